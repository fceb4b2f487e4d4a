import { HitStore } from './hit-store.js';
import type { HostStoreOptions } from './store-options.js';

/**
 * A store of hono-rate-limiter: `rateLimiter({ windowMs, limit, keyGenerator, store: honoRateLimiterStore({ name: 'api', store }) })`. It counts
 * windows from their first hit, in any store. Each `rateLimiter()` needs a store with a name of its own.
 * @throws RangeError, TypeError naming the invalid option
 */
export const honoRateLimiterStore = (options: HostStoreOptions = {}): HitStore =>
  new HitStore('honoRateLimiterStore', options);
