export type {
  AcquireOptions,
  ConsumeOptions,
  Cost,
  WaitOptions,
} from './admission/call-options.js';
export type { Reservation } from './admission/reservation.js';
export type { ScheduledTask, TaskContext, WrapOptions } from './admission/schedule.js';
export type { Algorithm, Policy, Rule, Script } from './algorithms/algorithm.js';
export {
  type ConcurrencyOptions,
  type ConcurrencyPolicy,
  concurrency,
} from './algorithms/concurrency/concurrency.js';
export {
  type FixedWindowOptions,
  type FixedWindowPolicy,
  fixedWindow,
} from './algorithms/fixed-window/fixed-window.js';
export { type GcraOptions, type GcraPolicy, gcra } from './algorithms/gcra/gcra.js';
export {
  type LeakyBucketOptions,
  type LeakyBucketPolicy,
  leakyBucket,
} from './algorithms/leaky-bucket/leaky-bucket.js';
export {
  type SlidingLogOptions,
  type SlidingLogPolicy,
  slidingLog,
} from './algorithms/sliding-log/sliding-log.js';
export {
  type SlidingWindowOptions,
  type SlidingWindowPolicy,
  slidingWindow,
} from './algorithms/sliding-window/sliding-window.js';
export {
  type TokenBucketOptions,
  type TokenBucketPolicy,
  tokenBucket,
} from './algorithms/token-bucket/token-bucket.js';
export { tokenBucketOfRate } from './algorithms/token-bucket/token-bucket-of-rate.js';
export { type Clock, ManualClock, systemClock } from './clock.js';
export { type CombinedKeys, CombinedLimiter } from './combined-limiter.js';
export type { Decision, PolicyDecision } from './decision.js';
export type { Answer, Call, Operation, Part, PartAnswer, SharedKeys } from './decisions/call.js';
export type { Duration } from './duration.js';
export * from './errors.js';
export { checkFunction, checkHandler } from './http/check-function.js';
export { type FixedWindowNames, readFixedWindow } from './http/fixed-window-options.js';
export { limitRequests } from './http/handle.js';
export { decisionHeaders } from './http/headers/decision-headers.js';
export type { HeaderOptions, HeaderStyle } from './http/headers/header-style.js';
export { keepHeaders } from './http/headers/keep-headers.js';
export { type ResponseHeaders, writeErrorHeaders, writeHeaders } from './http/headers/write-headers.js';
export { type OwnLimiter, withLimiter } from './http/own-limiter.js';
export {
  type HttpProblem,
  PROBLEM_TYPE,
  problemOf,
  problemOfError,
  type RateLimitProblem,
} from './http/problem.js';
export { type Reply, replyTo } from './http/reply.js';
export { currentRequest, runWithRequest } from './http/request-context.js';
export { requestUser, type UserOf } from './http/request-key.js';
export {
  type CountingOptions,
  type DenialOptions,
  type KeyOptions,
  type LimitChoice,
  type OfRequest,
  type OneOfLimits,
  type Policies,
  REQUEST_LIMIT_OPTIONS,
  type RequestLimitOptions,
} from './http/request-limit-options.js';
export { type NamedParts, NamedPartsView, REQUEST_FIELDS, type RequestView } from './http/request-view.js';
export { NodeResponseView, type ResponseView } from './http/response-view.js';
export type { RequestLimit, Verdict } from './http/verdict.js';
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
export { type LimiterKey, RateLimiter } from './limiter.js';
export { checkName, type LimiterPlace, type RateLimiterOptions } from './limiter-options.js';
export { andThen, isPromise, type MaybePromise } from './maybe-promise.js';
/** @internal Shared by our own packages; not part of the public API. */
export { checkBoolean, checkOptions, describe } from './options.js';
export {
  SharedLimiter,
  type SharedLimiterOptions,
  type SharedRate,
  type SharedRateConfig,
} from './shared-rates/shared-limiter.js';
export type { RateChange, StoredRate } from './shared-rates/stored-rate.js';
export { type MemoryStore, type MemoryStoreOptions, memoryStore } from './stores/memory-store.js';
export { type RedisClient, recommendedRedisOptions } from './stores/redis-client.js';
export { type RedisStore, redisStore } from './stores/redis-store.js';
export type { Asked, Store } from './stores/store.js';
