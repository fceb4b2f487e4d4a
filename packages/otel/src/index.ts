export { type InstrumentOptions, instrument, type Telemetry } from './instrument.js';
