// One file for several topics: most of what a short file costs is loading the frameworks. `counting.test.ts` runs them for the cases of
// `isQuick`, and `lasting.deep.test.ts` for all others.
import './bad-keys.suite.js';
import './costs.suite.js';
import './keys.suite.js';
import './limits.suite.js';
import './limits-places.suite.js';
import './lists.suite.js';
import './policies.suite.js';
import './routes.suite.js';
import './rules.suite.js';
