// One file for several topics: most of what a short file costs is loading the frameworks.
import './aborts.suite.js';
import './decorators.suite.js';
import './holding.suite.js';
import './refunds.suite.js';
import './streaming.suite.js';
import './waiting.suite.js';
import { isQuick, runOnly } from './on-each-framework.js';

runOnly((each) => !isQuick(each));
// Not imported, because imports load before runOnly.
require('./counting.suite.js');
