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
export {
  errorResponse,
  type RateLimitHandler,
  type RateLimitMiddleware,
  type RateLimitResponse,
  type RateLimitVariables,
  rateLimit,
  requestContext,
} from './middleware.js';
export type { HonoRateLimiterNames, RateLimitOptions } from './options.js';
