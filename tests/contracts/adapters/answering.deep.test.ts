// One file for several topics: most of what a short file costs is loading the frameworks.
import './answers.suite.js';
import './bad-input.suite.js';
import './basics.suite.js';
import './denials.suite.js';
import './errors.suite.js';
import './failing-store.suite.js';
import './headers.suite.js';
import './throwing.suite.js';
