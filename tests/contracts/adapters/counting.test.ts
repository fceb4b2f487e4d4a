import { isQuick, runOnly } from './on-each-framework.js';

runOnly(isQuick);
require('./counting.suite.js');
