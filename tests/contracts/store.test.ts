import { storeContract } from './store.contract.js';
import { memory } from './store-openers.js';

storeContract(memory);
