export type { Algorithm, Policy, Script } from './algorithms/algorithm.js';
export {
  type FixedWindowOptions,
  type FixedWindowPolicy,
  fixedWindow,
} from './algorithms/fixed-window/fixed-window.js';
export {
  type TokenBucketOptions,
  type TokenBucketPolicy,
  tokenBucket,
} from './algorithms/token-bucket/token-bucket.js';
export { tokenBucketOfRate } from './algorithms/token-bucket/token-bucket-of-rate.js';
export { type Clock, ManualClock, systemClock } from './clock.js';
export type { Decision } from './decision.js';
export type { Duration } from './duration.js';
export * from './errors.js';
export { limitRequests, type RequestLimit, type RequestLimitOptions } from './http/handle.js';
export { decisionHeaders } from './http/headers/decision-headers.js';
export { type ResponseHeaders, writeHeaders } from './http/headers/write-headers.js';
export { PROBLEM_TYPE, problemOf, type RateLimitProblem } from './http/problem.js';
export { currentRequest, runWithRequest } from './http/request-context.js';
export { requestUser, type UserOf } from './http/request-key.js';
export { NamedPartsView, REQUEST_FIELDS, type RequestView } from './http/request-view.js';
export {
  type ClientIpOptions,
  clientIp,
  compileKey,
  type KeyScope,
  type KeyTemplate,
  keyPart,
  LimitType,
  parseLimitType,
} from './keys/index.js';
/** @internal Shared by our own packages; not part of the public API. */
export { readProperty } from './keys/property.js';
export {
  type AcquireOptions,
  type ConsumeOptions,
  type LimiterKey,
  RateLimiter,
  type RateLimiterOptions,
} from './limiter.js';
/** @internal Shared by our own packages; not part of the public API. */
export { checkOptions, describe } from './options.js';
export { type MemoryStore, type MemoryStoreOptions, memoryStore } from './stores/memory-store.js';
export { type RedisClient, recommendedRedisOptions } from './stores/redis-client.js';
export { type RedisStore, redisStore } from './stores/redis-store.js';
export type { Answer, Asked, Call, Store } from './stores/store.js';
