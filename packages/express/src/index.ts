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
export { rateLimitErrors } from './answer.js';
export type { ClientRateLimitInfo, DenialInfo, RateLimitInfo } from './info.js';
export { ipKeyGenerator } from './ip-key-generator.js';
export {
  type RateLimitMiddleware,
  type RateLimitMiddleware as RateLimitRequestHandler,
  rateLimit,
  rateLimit as default,
  requestContext,
} from './middleware.js';
export type {
  ExpressRateLimitNames,
  RateLimitExceededEventHandler,
  RateLimitOptions,
  RateLimitOptions as Options,
  ValueDeterminingMiddleware,
} from './options.js';
