import { redisByAddress } from '../../contracts/store/openers.js';
import { meterSuite } from './meter.suite.js';

meterSuite(redisByAddress);
