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
export { type RateLimitMiddleware, rateLimit, rateLimit as default, requestContext } from './middleware.js';
export type { AnyContext, KoaRateLimitNames, RateLimitOptions } from './options.js';
