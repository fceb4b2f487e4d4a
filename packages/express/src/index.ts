export { type RateLimitMiddleware, rateLimit, rateLimitErrors, requestContext } from './middleware.js';
export type { ExpressRateLimitNames, RateLimitOptions } from './options.js';
