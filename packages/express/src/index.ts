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
export type { DenialInfo, RateLimitInfo } from './info.js';
export { ipKeyGenerator } from './ip-key-generator.js';
export {
  type ClientRateLimitInfo,
  type RateLimitMiddleware,
  type RateLimitMiddleware as RateLimitRequestHandler,
  rateLimit,
  rateLimit as default,
  rateLimitErrors,
  requestContext,
} from './middleware.js';
export type {
  ExpressRateLimitNames,
  RateLimitExceededEventHandler,
  RateLimitOptions,
  RateLimitOptions as Options,
  ValueDeterminingMiddleware,
} from './options.js';
