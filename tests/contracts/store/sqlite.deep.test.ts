import { storeContract } from './all.suite.js';
import { sqlite } from './openers.js';

storeContract(sqlite);
