import { memory, redisByAddress } from '../../contracts/store/openers.js';
import { upstreamSuite } from './upstream.suite.js';

upstreamSuite(memory);
upstreamSuite(redisByAddress);
