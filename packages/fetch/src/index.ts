export { errorResponse, type FetchRateLimit, type RateLimitOptions, rateLimit } from './rate-limit.js';
export type { RequestInfo } from './request.js';
