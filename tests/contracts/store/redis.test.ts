import { storeContract } from './all.suite.js';
import { redisByAddress } from './openers.js';

storeContract(redisByAddress);
