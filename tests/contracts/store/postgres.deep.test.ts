import { storeContract } from './all.suite.js';
import { crowdedContract } from './crowded.suite.js';
import { REPRESENTATIVES } from './harness.js';
import { postgres, startsPostgres } from './openers.js';

startsPostgres();
storeContract({ ...postgres, algorithms: REPRESENTATIVES });
describe('a full queue', () => crowdedContract(postgres));
