export {
  type RateLimitMiddleware,
  type RateLimitOptions,
  rateLimit,
  rateLimitErrors,
  requestContext,
} from './middleware.js';
