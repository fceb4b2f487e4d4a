export type { Amounts } from './amounts.js';
export type { BudgetLine, BudgetState } from './budget-state.js';
export {
  BudgetExceededError,
  type Denial,
  HoldInUseError,
  HoldLapsedError,
  isBudgetExceededError,
  isHoldInUseError,
  isHoldLapsedError,
} from './errors.js';
export { budgetHeaders } from './headers.js';
export type { Hold } from './hold.js';
export { type Meter, meter } from './meter.js';
export type {
  HoldOptions,
  Lapse,
  MeterOptions,
  MeterRules,
  RuledMeterOptions,
  Scope,
} from './meter-options.js';
export { type MeterStreamOptions, meterStream } from './meter-stream.js';
export { type MeteredFetchOptions, meterClient, meteredFetch } from './models/metered-fetch.js';
export type { LimitedService, ModelOptions } from './models/model-options.js';
export type { BudgetStop, Usage } from './models/reader.js';
export { type ModelMiddleware, sluiceMeter } from './models/sluice-meter.js';
export { stoppedBy } from './models/stopped-by.js';
