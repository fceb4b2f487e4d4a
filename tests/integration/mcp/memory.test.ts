import { memory } from '../../contracts/store/openers.js';
import { mcpSuite } from './mcp.suite.js';

mcpSuite(memory);
