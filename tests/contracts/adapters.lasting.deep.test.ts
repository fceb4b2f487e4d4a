// One file for several topics: most of what a short file costs is loading the frameworks.
import './adapters-aborts.js';
import './adapters-decorators.js';
import './adapters-holding.js';
import './adapters-refunds.js';
import './adapters-streaming.js';
import './adapters-waiting.js';
