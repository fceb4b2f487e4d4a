// One file for several topics: most of what a short file costs is loading the frameworks.
import './adapters-answers.js';
import './adapters-bad-input.js';
import './adapters-basics.js';
import './adapters-denials.js';
import './adapters-errors.js';
import './adapters-failing-store.js';
import './adapters-headers.js';
import './adapters-throwing.js';
