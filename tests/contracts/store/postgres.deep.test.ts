import { storeContract } from './all.suite.js';
import { postgres, startsPostgres } from './openers.js';

startsPostgres();
storeContract(postgres);
