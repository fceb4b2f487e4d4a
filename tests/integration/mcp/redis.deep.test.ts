import { redisByAddress } from '../../contracts/store/openers.js';
import { mcpSuite } from './mcp.suite.js';

mcpSuite(redisByAddress);
