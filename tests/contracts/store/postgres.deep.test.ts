import { storeContract } from './all.suite.js';
import { crowdedContract } from './crowded.suite.js';
import { FEW } from './harness.js';
import { postgres, startsPostgres } from './openers.js';

startsPostgres();
storeContract({ ...postgres, algorithms: FEW });
describe('a full queue', () => crowdedContract(postgres));
