export type { UseQuantiles } from './figures/key-uses.js';
export type { OverTime } from './figures/time-series.js';
export { LOG_FORMATS, type LogFormatName } from './log/formats.js';
export type { JsonFields } from './log/json-lines.js';
export type { LogRequest } from './log/log-request.js';
export {
  type BadLine,
  isLogFormatError,
  type LogCounts,
  LogFormatError,
  type LogOptions,
  type LogSource,
  readLog,
} from './log/read-log.js';
export type { Unresolved } from './logged-rules.js';
export { simulationPage } from './page/page.js';
export type {
  Difference,
  HitKey,
  LimitReport,
  ReplayReport,
  RuleReport,
  Simulation,
  SmallestLimit,
} from './report.js';
export { type SimulateOptions, simulate } from './simulate.js';
