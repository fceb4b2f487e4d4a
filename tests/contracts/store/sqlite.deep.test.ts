import { storeContract } from './all.suite.js';
import { crowdedContract } from './crowded.suite.js';
import { sqlite } from './openers.js';

storeContract(sqlite);
describe('a full queue', () => crowdedContract(sqlite));
