export { CountLimit, Limit, LimitType, RateLimit, SkipLimit } from '@sluice/decorators';
export type {
  HeaderStyle,
  HttpProblem,
  OneOfLimits,
  OwnLimiter,
  Policies,
  RateLimitProblem,
  Reply,
  RequestLimitOptions,
  RequestRules,
  RequestView,
  UserOf,
} from '@sluice/http';
export { SluiceExceptionFilter } from './exception-filter.js';
export { RateLimitException } from './exceptions.js';
export { RateLimitGuard } from './guard.js';
export { SluiceModule } from './module.js';
export type { RateLimitGuardOptions, RequestResponse, SluiceModuleOptions } from './options.js';
export type { OverrideLimitDecorator } from './override-limit.js';
export { OverrideLimit } from './override-limit-decorator.js';
