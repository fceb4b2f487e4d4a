import { countedLimit, resetOf, seconds } from './hits.js';
import { hostKey } from './host-key.js';
import { checkHostOptions, HostLimiters, type HostStoreOptions } from './store-options.js';

/** `rateLimit.customStorage` of Better Auth, from 1.7 on. */
export interface BetterAuthStorage {
  /** @param rule `window` in seconds, and `max` requests in it */
  consume(
    key: string,
    rule: { readonly window: number; readonly max: number },
  ): Promise<{ allowed: boolean; retryAfter: number | null }>;
  /** Closes what this storage created; a `store` that you passed is yours to close. */
  close(): Promise<void>;
}

/**
 * A storage of Better Auth: `rateLimit: { customStorage: betterAuthStorage({ name: 'auth', store }) }`. The window begins with its first request.
 * A denied request takes nothing.
 * @throws RangeError, TypeError naming the invalid option
 */
export function betterAuthStorage(options: HostStoreOptions = {}): BetterAuthStorage {
  checkHostOptions('betterAuthStorage', options);
  const limiters = new HostLimiters(options);
  return {
    async consume(key, { window, max }) {
      const decision = await limiters.get(countedLimit(max), window * 1000).consume(hostKey(key));
      return { allowed: decision.allowed, retryAfter: decision.allowed ? null : seconds(resetOf(decision)) };
    },
    close: () => limiters.close(),
  };
}
