import { HitStore } from './hit-store.js';
import type { HostStoreOptions } from './store-options.js';

/**
 * A store of express-rate-limit: `rateLimit({ windowMs, limit, store: expressRateLimitStore({ name: 'api', store: redisStore(url) }) })`. It
 * counts windows from their first hit, in any store. Each `rateLimit()` needs a store with a name of its own.
 * @throws RangeError, TypeError naming the invalid option
 */
export const expressRateLimitStore = (options: HostStoreOptions = {}): HitStore =>
  new HitStore('expressRateLimitStore', options);
