import { type Decision, isStoreUnavailableError } from '@sluice/core';
import { COUNT_ONLY, countedLimit, hitsOf, resetOf } from './hits.js';
import { scopedKey } from './host-key.js';
import { checkHostOptions, HostLimiters, type HostStoreOptions } from './store-options.js';

/** Ten years, the longest window. */
const LONGEST = 3650 * 86_400_000;

type Callback = (error: Error | null, result?: { current: number; ttl: number }) => void;

/** What the store reads of the plugin's options, and of a route's. */
interface FastifyLimits {
  readonly ban?: number;
  readonly continueExceeding?: boolean;
  readonly exponentialBackoff?: boolean;
  readonly routeInfo?: { readonly method?: unknown; readonly url?: unknown };
}

/** The counts of a plugin, or of one of its routes. */
export class FastifyStore {
  readonly #limiters: HostLimiters;
  readonly #limits: FastifyLimits;
  readonly #scope: string;
  /** The host needs the number of hits above its limit. */
  readonly #counts: boolean;
  /** Of all stores of the class: how many limits have no route. */
  readonly #unrouted: { count: number };

  constructor(limiters: HostLimiters, limits: FastifyLimits, scope: string, unrouted: { count: number }) {
    this.#limiters = limiters;
    this.#unrouted = unrouted;
    this.#limits = limits;
    this.#scope = scope;
    const { ban = -1, continueExceeding = false, exponentialBackoff = false } = limits;
    this.#counts = ban >= 0 || continueExceeding || exponentialBackoff;
  }

  incr(key: string, callback: Callback, timeWindow: number, max: number): void {
    answer(callback, this.#hit(key, timeWindow, max));
  }

  /** Reads a key without a hit. */
  read(key: string, callback: Callback, timeWindow: number, max: number): void {
    answer(callback, this.#read(key, timeWindow, max));
  }

  /** The store of a route with limits of its own, or of `app.rateLimit` and `app.createRateLimit`, which know no route. */
  child(route: object): FastifyStore {
    const limits: FastifyLimits = route;
    const { method, url } = limits.routeInfo ?? {};
    let own = `${method} ${url} `;
    if (url === undefined) {
      // Equal processes register in the same order.
      this.#unrouted.count += 1;
      own = `rateLimit ${this.#unrouted.count} `;
    }
    return new FastifyStore(this.#limiters, limits, `${this.#scope}${own}`, this.#unrouted);
  }

  async #hit(key: string, timeWindow: number, max: number): Promise<{ current: number; ttl: number }> {
    const limit = this.#counts ? COUNT_ONLY : countedLimit(max);
    const scoped = scopedKey(this.#scope, key);
    const decision = await this.#limiters.get(limit, timeWindow).consume(scoped);
    const current = hitsOf(decision, limit);
    const ttl = current > max ? await this.#longer(scoped, decision, timeWindow, current, max) : undefined;
    return { current, ttl: ttl ?? resetOf(decision) };
  }

  /** A hit above the limit begins the window again, or a longer one. @returns ms; undefined if neither */
  async #longer(
    key: string,
    { allowed, degraded }: Decision,
    timeWindow: number,
    current: number,
    max: number,
  ) {
    const { continueExceeding = false, exponentialBackoff = false } = this.#limits;
    if (!allowed || degraded || !(continueExceeding || exponentialBackoff)) return undefined;
    const ttl = continueExceeding ? timeWindow : Math.min(timeWindow * 2 ** (current - max - 1), LONGEST);
    const limiter = this.#limiters.get(COUNT_ONLY, ttl);
    try {
      // Calls of one turn are sent together, in this order. A key without hits begins its window with the penalty. `reset` would also end
      // an operator's block, and forget hits that were counted meanwhile.
      await Promise.all([limiter.reward(key, current), limiter.penalty(key, current)]);
    } catch (error) {
      if (isStoreUnavailableError(error)) return undefined; // the window as it was
      throw error;
    }
    return ttl;
  }

  async #read(key: string, timeWindow: number, max: number): Promise<{ current: number; ttl: number }> {
    const limit = this.#counts ? COUNT_ONLY : countedLimit(max);
    // A shorter window would end a longer wait of the key.
    const window = this.#limits.exponentialBackoff === true ? LONGEST : timeWindow;
    const decision = await this.#limiters.get(limit, window).peek(scopedKey(this.#scope, key));
    return { current: hitsOf(decision, limit, 0), ttl: resetOf(decision) };
  }
}

function answer(callback: Callback, result: Promise<{ current: number; ttl: number }>): void {
  result.then(
    (hit) => callback(null, hit),
    (error) => callback(error),
  );
}

/**
 * A store of `@fastify/rate-limit`: `app.register(rateLimit, { max, timeWindow, store: fastifyRateLimitStore({ name: 'api', store }) })`. Returns
 * the class that the plugin takes. Routes with options of their own count apart.
 * @throws RangeError, TypeError naming the invalid option
 */
export function fastifyRateLimitStore(options: HostStoreOptions = {}): new (limits: object) => FastifyStore {
  checkHostOptions('fastifyRateLimitStore', options);
  const limiters = new HostLimiters(options);
  const unrouted = { count: 0 };
  return class extends FastifyStore {
    constructor(limits: object) {
      super(limiters, limits, '', unrouted);
    }
  };
}
