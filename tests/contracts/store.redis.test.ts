import { storeContract } from './store.contract.js';
import { redisByAddress } from './store-openers.js';

storeContract(redisByAddress);
