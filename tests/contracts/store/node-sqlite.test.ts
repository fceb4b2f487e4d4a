import { storeContract } from './all.suite.js';
import { nodeSqlite } from './openers.js';

const kind = nodeSqlite();

if (kind === undefined)
  test.skip('this version of Node.js has no node:sqlite; CI also runs versions that have it', () => {});
else storeContract(kind);
