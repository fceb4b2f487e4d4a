import { sqlite } from '../../contracts/store/openers.js';
import { meterSuite } from './meter.suite.js';

meterSuite(sqlite);
