import { storeContract } from './all.suite.js';
import { crowdedContract } from './crowded.suite.js';
import { redisByAddress } from './openers.js';

storeContract(redisByAddress);
describe('a full queue', () => crowdedContract(redisByAddress));
