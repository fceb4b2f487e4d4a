export { type RateLimitMiddleware, rateLimit, requestContext } from './middleware.js';
export type { AnyContext, KoaRateLimitNames, RateLimitOptions } from './options.js';
