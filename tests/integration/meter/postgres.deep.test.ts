import { postgres, startsPostgres } from '../../contracts/store/openers.js';
import { meterSuite } from './meter.suite.js';

startsPostgres();
meterSuite(postgres);
