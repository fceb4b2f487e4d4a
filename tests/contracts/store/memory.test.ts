import { storeContract } from './all.suite.js';
import { memory } from './openers.js';

storeContract(memory);
