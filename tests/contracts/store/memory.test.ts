import { storeContract } from './all.suite.js';
import { crowdedContract } from './crowded.suite.js';
import { memory } from './openers.js';

storeContract(memory);
describe('a full queue', () => crowdedContract(memory));
