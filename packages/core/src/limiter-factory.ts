import type { Policy } from './algorithms/algorithm.js';
import { fixedWindow } from './algorithms/fixed-window/fixed-window.js';
import { LimiterClosedError } from './errors.js';
import { RateLimiter } from './limiter.js';
import { layersOf } from './limiter-layers.js';
import { checkLimiterOptions, type LimiterPlace, PLACE_OPTIONS } from './limiter-options.js';
import { checkInteger, checkOptions, describe } from './options.js';
import { RecentMap } from './recent-map.js';
import { memoryStore } from './stores/memory-store.js';
import type { Store } from './stores/store.js';

/** What a `LimiterFactory` takes: the options of a `RateLimiter` but its name and policies. */
export interface LimiterFactoryOptions extends Omit<LimiterPlace, 'name'> {
  /** Where all limiters of the factory count; default a `memoryStore()` of the factory's own. A store that you give stays yours to close. */
  readonly store?: Store | undefined;
  /** The most limiters to keep, from 1 to 1,000,000; default 1000. */
  readonly max?: number | undefined;
}

/** The limit of one name: a policy, or several policies by their names. */
export type LimiterPolicies = Policy | Readonly<Record<string, Policy>>;

/** Checks the other options of a limiter before there is a policy. */
const ANY_POLICY = fixedWindow({ limit: 1, window: 1 });

/**
 * Makes limiters at run time: one for each tenant, plan or partner. Keeps the `max` limiters used last and drops the others: only
 * their counts stay, in the store, until they expire. So many names cost about what as many keys cost.
 */
export class LimiterFactory {
  readonly #ownStore: Store | undefined;
  readonly #options: LimiterPlace;
  readonly #layers: Store;
  readonly #limiters: RecentMap<string, RateLimiter>;
  #closed = false;

  /** @throws RangeError, TypeError naming the option that is wrong. Does no I/O. */
  constructor(options: LimiterFactoryOptions = {}) {
    const own = PLACE_OPTIONS.filter((name) => name !== 'name');
    checkOptions('LimiterFactory', options, ['max', ...own]);
    const { max = 1000, ...base } = options;
    checkInteger('LimiterFactory: max', max, 1, 1_000_000);
    this.#ownStore = base.store === undefined ? memoryStore() : undefined;
    const store = base.store ?? this.#ownStore!;
    this.#options = { ...base, store };
    this.#layers = layersOf(
      store,
      checkLimiterOptions({ ...this.#options, name: 'any', policy: ANY_POLICY }),
    );
    this.#limiters = new RecentMap(max, (limiter) => RateLimiter.inside(limiter).busy);
  }

  /** How many limiters are kept now. */
  get size(): number {
    return this.#limiters.size;
  }

  /**
   * The limiter of this name. Ask for it at each use instead of keeping it: a limiter that was dropped still works, but is no longer closed
   * with the factory.
   * @param policy called when there is no limiter of this name. To change the numbers of a name, `delete` it first.
   * @throws RangeError, TypeError for a wrong name or policy, and what `policy` throws; LimiterClosedError
   */
  get(name: string, policy: () => LimiterPolicies): RateLimiter {
    if (this.#closed)
      throw new LimiterClosedError(`LimiterFactory: limiter '${name}' was asked for after close()`);
    return this.#limiters.get(name) ?? this.#make(name, policy);
  }

  #make(name: string, policy: () => LimiterPolicies): RateLimiter {
    const given = policy();
    if (typeof given !== 'object' || given === null) {
      throw new TypeError(
        `LimiterFactory: the policy of '${name}' must be a policy, such as fixedWindow({ limit: 100, window: '1m' }), or policies by their ` +
          `names, not ${describe(given)}`,
      );
    }
    const policies = isPolicy(given) ? { policy: given } : { policies: given };
    const limiter = new RateLimiter({ ...this.#options, name, ...policies }, this.#layers);
    this.#limiters.set(name, limiter);
    return limiter;
  }

  /** Drops a limiter: the next `get` makes it again. What its keys have taken counts on. Returns whether there was one. */
  delete(name: string): boolean {
    return this.#limiters.delete(name);
  }

  /** Closes all limiters, and the store if it is the factory's own. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#limiters.values().map((limiter) => limiter.close()));
    await this.#ownStore?.close();
  }
}

const isPolicy = (given: LimiterPolicies): given is Policy => typeof given.algorithm === 'string';
