// `counting.test.ts` runs these in the cases that are quick, and `lasting.deep.test.ts` in all others.
import './bad-keys.suite.js';
import './costs.suite.js';
import './keys.suite.js';
import './limits.suite.js';
import './limits-places.suite.js';
import './lists.suite.js';
import './policies.suite.js';
import './routes.suite.js';
import './rules.suite.js';
