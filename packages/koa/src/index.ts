export { type RateLimitMiddleware, rateLimit, rateLimit as default, requestContext } from './middleware.js';
export type { AnyContext, KoaRateLimitNames, RateLimitOptions } from './options.js';
