export { type BetterAuthStorage, betterAuthStorage } from './better-auth.js';
export { expressRateLimitStore } from './express-rate-limit.js';
export { type FastifyStore, fastifyRateLimitStore } from './fastify-rate-limit.js';
export type { HitStore, HitStoreInit, KeyHits } from './hit-store.js';
export { honoRateLimiterStore } from './hono-rate-limiter.js';
export type { HostStoreOptions } from './store-options.js';
export { type ThrottlerRecord, type ThrottlerStorage, throttlerStorage } from './throttler.js';
