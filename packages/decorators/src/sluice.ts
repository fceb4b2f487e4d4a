import {
  type Duration,
  type FailurePolicy,
  fixedWindow,
  LimiterClosedError,
  type LimiterKey,
  memoryStore,
  type PrefetchOptions,
  RateLimiter,
  type RequestView,
  type Store,
} from '@sluice/core';
import {
  addressError,
  checkOptions,
  compileClientKey,
  describe,
  type MaybePromise,
  prefetchDefault,
  requestUser,
} from '@sluice/core/http';
import type { Rules } from './limitation.js';

export interface SluiceOptions {
  /** Where state lives; default one `memoryStore()` for all limits. A store that you pass is yours to close. */
  readonly store?: Store;
  /** Returns who makes a request, for `limitType: 'USER'`; default the request's `user.id`, or `user` when that is a plain value. */
  readonly user?: (request: RequestView) => LimiterKey | null | undefined;
  /** Leading bits of an IPv6 address that make one client, from 32 to 128; default 64. */
  readonly ipv6Subnet?: number;
  /** The first part of every storage key; default `'sluice'`. */
  readonly keyPrefix?: string;
  /** How long the answer of a remote store may take; default 100 ms. */
  readonly deadline?: Duration;
  /** How to decide while a remote store is out; default `'local'`. See `FailurePolicy` of `@sluice/core`. */
  readonly failurePolicy?: FailurePolicy;
  /** How long a denial of a remote store is cached at most; default `'1s'`; `false`: not at all. */
  readonly denyCache?: Duration | false;
  /**
   * Takes permits from a remote store in blocks, `{ most: 100 }`; default `false`. See `PrefetchOptions` of `@sluice/core`. It does not
   * apply to methods whose policy does not allow it (`concurrency`, `slidingLog`, …).
   */
  readonly prefetch?: PrefetchOptions | false;
}

/** @internal */
export const SLUICE_OPTIONS = [
  'store',
  'user',
  'ipv6Subnet',
  'keyPrefix',
  'deadline',
  'failurePolicy',
  'denyCache',
  'prefetch',
] as const;

/** A configuration and its limiters. Made by `createSluice` and `configureSluice`. */
export class Sluice {
  readonly #options: SluiceOptions;
  readonly #store: Store;
  readonly #clientKey: (client: { readonly ip: string | undefined }) => string;
  readonly #limiters = new Map<Rules, Map<string, RateLimiter>>();
  #closed = false;

  /** @internal @throws RangeError, TypeError naming the option that is wrong. Does no I/O. */
  constructor(where: string, options: SluiceOptions) {
    checkOptions(where, options, SLUICE_OPTIONS);
    const { user, ipv6Subnet, store } = options;
    if (user !== undefined && typeof user !== 'function') {
      throw new TypeError(`${where}: user must be a function (request) => id, not ${describe(user)}`);
    }
    this.#clientKey = compileClientKey(ipv6Subnet === undefined ? {} : { ipv6Subnet }, addressError);
    this.#options = { ...options };
    this.#store = store === undefined ? memoryStore() : store;
    this.#create('check', { policy: fixedWindow({ limit: 1, window: 1 }) }); // refuses what a limiter would refuse, now
  }

  /**
   * @internal The limiter of this name and these rules, created at the first call: decorators run before configuration.
   * @throws LimiterClosedError
   */
  limiter(name: string, rules: Rules): RateLimiter {
    if (this.#closed) throw new LimiterClosedError(`Limiter '${name}' was closed by closeSluice or close`);
    let limiter = this.#limiters.get(rules)?.get(name);
    if (limiter === undefined) {
      limiter = this.#create(name, rules);
      const named = this.#limiters.get(rules) ?? new Map<string, RateLimiter>();
      this.#limiters.set(rules, named.set(name, limiter));
    }
    return limiter;
  }

  /** @internal @throws KeyResolutionError when the request has no address */
  ip(request: RequestView): string {
    return this.#clientKey(request);
  }

  /** @internal @throws KeyResolutionError when the request has no user */
  user(request: RequestView): MaybePromise<string> {
    return requestUser(request, this.#options.user);
  }

  /** Ends all waits with a `LimiterClosedError` and rejects further calls. Closes the memory store if none was passed. */
  async close(): Promise<void> {
    this.#closed = true;
    const limiters = [...this.#limiters.values()].flatMap((named) => [...named.values()]);
    await Promise.all(limiters.map((limiter) => limiter.close()));
    if (this.#options.store === undefined) await this.#store.close();
  }

  #create(name: string, rules: Rules): RateLimiter {
    const { keyPrefix, deadline, failurePolicy, denyCache, prefetch } = this.#options;
    return new RateLimiter({
      name,
      ...rules,
      store: this.#store,
      keyPrefix,
      deadline,
      failurePolicy,
      denyCache,
      prefetch: prefetchDefault(prefetch),
    });
  }
}
