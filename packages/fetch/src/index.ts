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
export { errorResponse, type FetchRateLimit, type RateLimitOptions, rateLimit } from './rate-limit.js';
export type { RequestInfo } from './request.js';
