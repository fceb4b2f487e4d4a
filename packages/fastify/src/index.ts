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
export type { RateLimitHook } from './limit-hook.js';
export type {
  ErrorResponseContext,
  FastifyRateLimitNames,
  RateLimitHookName,
  RateLimitOptions,
  RateLimitPluginOptions,
  RouteRateLimitOptions,
} from './options.js';
export { rateLimit, rateLimit as default } from './plugin.js';
export type { CreateRateLimitOptions, RateLimitCheck, RateLimitCheckResult } from './rate-limit-check.js';
export { requestContext } from './request-context.js';
