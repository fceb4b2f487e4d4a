// One file for several topics: most of what a short file costs is loading the frameworks.
import './adapters-bad-keys.js';
import './adapters-costs.js';
import './adapters-keys.js';
import './adapters-limits.js';
import './adapters-limits-places.js';
import './adapters-lists.js';
import './adapters-policies.js';
import './adapters-routes.js';
import './adapters-rules.js';
