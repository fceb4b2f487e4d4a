import {
  type Decision,
  isLimiterClosedError,
  isStoreConfigurationError,
  isStoreUnavailableError,
  type RateLimiter,
} from '@sluice/core';
import { COUNT_ONLY, countedLimit, hitsOf, resetOf } from './hits.js';
import { hostKey } from './host-key.js';
import { checkHostOptions, HostLimiters, type HostStoreOptions } from './store-options.js';

/** What these stores read of the options of express-rate-limit and hono-rate-limiter. */
export interface HitStoreInit {
  readonly windowMs: number;
  /** A function is called by the host, after the hit was counted. */
  readonly limit?: unknown;
  readonly skipFailedRequests?: boolean;
  readonly skipSuccessfulRequests?: boolean;
}

/** The hits of a key, and when its window ends. */
export interface KeyHits {
  readonly totalHits: number;
  readonly resetTime: Date;
}

/** A store of express-rate-limit, and of hono-rate-limiter, which has the same interface. */
export class HitStore {
  /** Does no other store of the host share its counts? */
  readonly localKeys: boolean;
  /** By which express-rate-limit notices a request that is counted twice. */
  readonly prefix: string;
  readonly #where: string;
  readonly #limiters: HostLimiters;
  #limit = COUNT_ONLY;
  #limiter: RateLimiter | undefined;
  #mistake: unknown;

  /** @throws RangeError, TypeError naming the invalid option */
  constructor(where: string, options: HostStoreOptions) {
    checkHostOptions(where, options);
    this.#where = where;
    this.#limiters = new HostLimiters(options);
    this.localKeys = options.store === undefined;
    this.prefix = `${this.#limiters.name}:`;
  }

  /**
   * Called by the host, with its options. If the host later takes hits back, or computes the limit for each request, each hit is counted and
   * the host decides; otherwise the store decides, and a denied hit takes nothing.
   * @throws RangeError for a limit or window that cannot be counted; TypeError if it serves another one
   */
  init({ windowMs, limit, skipFailedRequests, skipSuccessfulRequests }: HitStoreInit): void {
    const counts =
      typeof limit !== 'number' || skipFailedRequests === true || skipSuccessfulRequests === true;
    try {
      this.#limit = counts ? COUNT_ONLY : countedLimit(limit);
      const limiter = this.#limiters.get(this.#limit, windowMs);
      // The larger limit would decide for both.
      if (limiter !== (this.#limiter ?? limiter))
        throw new TypeError(`${this.#where}: this store serves another limit already; create one for each`);
      this.#limiter = limiter;
    } catch (error) {
      // express-rate-limit logs it and goes on, so each hit rejects with it.
      this.#mistake = error;
      throw error;
    }
  }

  async increment(key: string): Promise<KeyHits> {
    return this.#hits(await this.#ready('increment').consume(hostKey(key)));
  }

  /** Takes back a hit of the current window. */
  async decrement(key: string): Promise<void> {
    try {
      await this.#ready('decrement').reward(hostKey(key));
    } catch (error) {
      // The store reports that it is out. An answered request does not fail because its hit stays counted, also during a shutdown.
      if (
        !isStoreUnavailableError(error) &&
        !isStoreConfigurationError(error) &&
        !isLimiterClosedError(error)
      )
        throw error;
    }
  }

  async resetKey(key: string): Promise<void> {
    await this.#ready('resetKey').reset(hostKey(key));
  }

  /** Reads a key without a hit; undefined if it has none. */
  async get(key: string): Promise<KeyHits | undefined> {
    const decision = await this.#ready('get').peek(hostKey(key));
    return decision.resetAfter === 0 ? undefined : this.#hits(decision, 0);
  }

  /** Closes what this store created; a `store` that you passed is yours to close. */
  async shutdown(): Promise<void> {
    await this.#limiters.close();
  }

  #hits(decision: Decision, least?: number): KeyHits {
    const resetTime = new Date(Date.now() + resetOf(decision));
    return { totalHits: hitsOf(decision, this.#limit, least), resetTime };
  }

  #ready(method: string): RateLimiter {
    if (this.#mistake !== undefined) throw this.#mistake;
    if (this.#limiter !== undefined) return this.#limiter;
    throw new TypeError(
      `${this.#where}: ${method} was called before init. Pass the store to the host's options, which calls init({ windowMs, limit })`,
    );
  }
}
