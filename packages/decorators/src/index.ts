export { LimitType } from '@sluice/core';
export type { RequestView, UserOf } from '@sluice/http';
export { closeSluice, configureSluice, createSluice, SLUICE } from './configuration.js';
export { CountLimit, type CountLimitOptions } from './count-limit.js';
export { Limit, type LimitOptions } from './limit.js';
export type { LimitDecorator, MethodDecorator } from './limit-decorator.js';
export type { CommonOptions, CostOfCall } from './limitation.js';
export { prepareLimits } from './prepare-limits.js';
export { RateLimit, type RateLimitOptions } from './rate-limit.js';
export type { RuleLimitOptions } from './rule-limit.js';
export {
  SkipLimit,
  type SkipLimitDecorator,
  type SkippedLimits,
  skippedLimits,
  skipsLimit,
} from './skip-limit.js';
export { SLUICE_OPTIONS, type Sluice, type SluiceOptions } from './sluice.js';
