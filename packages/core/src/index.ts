export type { Algorithm, Policy, Rule } from './algorithms/algorithm.js';
export type { EscalateOptions } from './algorithms/escalate-options.js';
export * from './algorithms/list.js';
export type { StoreUsage, UsageKeys, UsageOptions } from './board/watching.js';
export type { Answer, Decider, Operation, PartAnswer } from './call/call.js';
export { type Call, type Part, storageKey } from './call/call.js';
export type { FailureChoice, Limit, SharedKeys } from './call/limit.js';
export { type Clock, ManualClock, systemClock } from './clock.js';
export * from './decision.js';
export type { Duration } from './duration.js';
export * from './errors.js';
export type { StoreHealth } from './health/store-health.js';
export { type ClientIpOptions, clientIp } from './keys/client-ip.js';
export { LimitType } from './keys/key-list.js';
export type { LimiterKey } from './keys/redis-key.js';
export { hashKey } from './keys/redis-key.js';
export type { BaseLimiter, ScheduledTask, TaskContext } from './limiter/base-limiter.js';
export type {
  AcquireOptions,
  ConsumeOptions,
  Cost,
  DecisionOptions,
  WaitOptions,
} from './limiter/call-options.js';
export { type CombinedKeys, CombinedLimiter } from './limiter/combined-limiter.js';
export type { FailurePolicy, StoreFailure } from './limiter/failure-policy.js';
export {
  LimiterFactory,
  type LimiterFactoryOptions,
  type LimiterPolicies,
} from './limiter/limiter-factory.js';
export type { LimiterBaseOptions, RateLimiterOptions } from './limiter/limiter-options.js';
export type { KeyCount, NotifyOptions, Threshold, TopKeys } from './limiter/observer.js';
export type { PrefetchOptions } from './limiter/prefetch-options.js';
export { RateLimiter, type WrapOptions } from './limiter/rate-limiter.js';
export type { Reservation } from './limiter/reservation.js';
export type { SharedRate, SharedRateConfig } from './shared-limiter/shared-limiter.js';
export { SharedLimiter, type SharedLimiterOptions } from './shared-limiter/shared-limiter.js';
export { type MemoryStore, type MemoryStoreOptions, memoryStore } from './stores/memory/memory-store.js';
export type { RedisClient, RedisClientSettings } from './stores/redis/client.js';
export { recommendedClusterOptions, recommendedRedisOptions } from './stores/redis/client-settings.js';
export type { NodeRedisClient } from './stores/redis/node-redis.js';
export { type RedisStore, redisStore } from './stores/redis/redis-store.js';
export type {
  RedisAddress,
  RedisClientOptions,
  RedisClusterOptions,
  RedisSentinelOptions,
  RedisServerOptions,
  RedisStoreOptions,
} from './stores/redis/redis-store-options.js';
export type { RateChange, StoredRate } from './stores/shared-rate.js';
export type { Store, StoreCaller } from './stores/store.js';
export { subscribe } from './telemetry/channels.js';
export * from './telemetry/messages.js';
export type { WarningCode, WarningMessage } from './warnings.js';
