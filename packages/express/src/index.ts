export { type RateLimitMiddleware, type RateLimitOptions, rateLimit, requestContext } from './middleware.js';
