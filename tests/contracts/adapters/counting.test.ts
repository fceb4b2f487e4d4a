import { isQuick, runOnly } from './on-each-framework.js';

runOnly(isQuick);
// Not imported, because imports load before runOnly.
require('./counting.suite.js');
