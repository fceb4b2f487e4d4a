// What our own tools share of this package, as `@sluice/meter/internal`. Not public API: it may change with any release.

export {
  type InspectedAxis,
  type InspectedScope,
  type InspectMeterOptions,
  inspectMeter,
} from './inspect-meter.js';
