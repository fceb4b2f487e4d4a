export type { RateLimitHook } from './limit-hook.js';
export type {
  FastifyRateLimitNames,
  RateLimitHookName,
  RateLimitOptions,
  RateLimitPluginOptions,
  RouteRateLimitOptions,
} from './options.js';
export { rateLimit, rateLimit as default } from './plugin.js';
export { requestContext } from './request-context.js';
