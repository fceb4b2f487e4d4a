import type { Policy } from '../algorithms/algorithm.js';
import { announce } from '../board/definitions.js';
import type { Decider, Operation } from '../call/call.js';
import { type Duration, toMicros } from '../duration.js';
import type { LimiterKey } from '../keys/redis-key.js';
import { checkBoolean, checkInteger, checkOptions } from '../options.js';
import { memoryStore } from '../stores/memory/memory-store.js';
import type { Store } from '../stores/store.js';
import { Admission } from './admission.js';
import { BaseLimiter, checkTask } from './base-limiter.js';
import { type AcquireOptions, waitOptions } from './call-options.js';
import { checkLimiterOptions, deciderOf, type RateLimiterOptions } from './limiter-options.js';
import { LAYOUT, type Limits } from './limits.js';
import { useNames } from './names-in-use.js';
import { observerOf } from './observer.js';

/** The options of `wrap`. `Args` are the arguments of the wrapped function. */
export interface WrapOptions<Args extends readonly unknown[]> extends AcquireOptions {
  /** The key, or a function that returns it from the arguments; default: all calls share one key. */
  readonly key?: LimiterKey | ((...args: Args) => LimiterKey);
}

/**
 * One limit for many keys, each counted by itself. With several `policies` a call passes if all of them have its permits; it takes
 * from all or from none.
 */
export class RateLimiter extends BaseLimiter<LimiterKey> {
  readonly #limits: Limits;
  readonly #store: Store;
  readonly #ownStore: Store | undefined;
  readonly #admission: Admission;
  readonly #endUses: (() => void)[] = [];

  /** @throws RangeError, TypeError naming the invalid option. Does no I/O. */
  constructor(options: RateLimiterOptions);
  /** @internal @param decider shared by limiters that are created at run time with the same options */
  constructor(options: RateLimiterOptions, decider: Decider);
  constructor(options: RateLimiterOptions, shared?: Decider) {
    const checked = checkLimiterOptions(options);
    const { name, limits } = checked;
    const store = checked.store ?? memoryStore();
    const decider = shared ?? deciderOf(store, checked);
    const { notifies } = limits;
    const observer = observerOf(store, { name, decider, keys: 'own', notifies });
    const admission = new Admission(name, decider, observer);
    super(name, admission, limits);
    this.#limits = limits;
    this.#store = store;
    this.#ownStore = checked.store === undefined ? store : undefined;
    this.#admission = admission;
    if (checked.store === undefined || shared !== undefined) return;
    const { keyPrefix, hashTag = '', escalate } = limits.common;
    const id = JSON.stringify([name, keyPrefix, hashTag, limits.policies, escalate]);
    this.#endUses.push(
      useNames(store, name, limits.byPrefix),
      announce(store.fleet, LAYOUT, id, () => limits.definition('limiter')),
    );
  }

  /** The policies by their names; a single one has the limiter's name. */
  get policies(): Readonly<Record<string, Policy>> {
    return this.#limits.policies;
  }

  /**
   * Returns a function that does what `task` does, each call when its permits are due. By default all calls share one key.
   * @throws TypeError for an invalid option
   */
  wrap<This, Args extends unknown[], T>(
    task: (this: This, ...args: Args) => T | Promise<T>,
    options: WrapOptions<Args> = {},
  ): (this: This, ...args: Args) => Promise<T> {
    checkOptions('wrap', options, ['key', 'cost', 'timeout', 'signal']);
    checkTask('wrap', task);
    const { key = this.name, ...acquiring } = options;
    waitOptions('wrap', acquiring);
    const keyOf = typeof key === 'function' ? key : () => key;
    const run = (args: Args, work: () => T | Promise<T>) => this.schedule(keyOf(...args), work, acquiring);
    const wrapped = async function (this: This, ...args: Args): Promise<T> {
      return run(args, () => task.apply(this, args));
    };
    return Object.defineProperty(wrapped, 'name', { value: task.name, configurable: true });
  }

  /**
   * Takes permits as a penalty, even if none are left.
   * @param permits of each policy, a whole number ≥ 1
   * @throws RangeError for another number; TypeError for a `concurrency` policy; StoreUnavailableError, StoreConfigurationError,
   *   LimiterClosedError
   */
  async penalty(key: LimiterKey, permits = 1): Promise<void> {
    this.#admission.checkOpen();
    this.#limits.checkSpent();
    await this.#admission.charge(this.#limits.parts(key, checkInteger('penalty: permits', permits, 1)));
  }

  /** Returns permits as a gift: the permits taken last first, and never more than were taken. Parameters and errors are those of `penalty`. */
  async reward(key: LimiterKey, permits = 1): Promise<void> {
    const { decider, refunds } = this.#admission;
    this.#limits.checkSpent();
    const parts = this.#limits.parts(key, checkInteger('reward: permits', permits, 1));
    this.#admission.checkOpen();
    await refunds.reward(decider, parts);
  }

  /**
   * Denies all calls of a key for `duration` from now. Booked calls keep their moments. Calls that wait for a `concurrency` permit are
   * admitted when the block has ended. Another `block` replaces it.
   * @param options `keepLonger`: a block of the key that ends later stays as it is, so that the block can only become longer
   * @throws RangeError for an invalid duration; TypeError for an invalid option; StoreUnavailableError, StoreConfigurationError,
   *   LimiterClosedError
   */
  async block(
    key: LimiterKey,
    duration: Duration,
    options: { readonly keepLonger?: boolean } = {},
  ): Promise<void> {
    checkOptions('block', options, ['keepLonger']);
    checkBoolean('block: keepLonger', options.keepLonger);
    const operation = options.keepLonger === true ? 'extend-block' : 'block';
    await this.#change(operation, toMicros('block: duration', duration), key);
  }

  /**
   * Ends a block early. The key keeps its count, and the next block of `escalate` is as long as if this one had passed.
   * @throws as `block` does
   */
  async unblock(key: LimiterKey): Promise<void> {
    await this.#change('block', 0, key);
  }

  /**
   * Gives one key another policy, in all processes, from their next decision until `expiresIn` has passed: for example ten times the
   * limit for one customer. The key keeps its count under both policies: when the override ends, the key has what it would have
   * without the override, but never owes more than one whole limit.
   * A refund during the override also counts under the policy. A `tokenBucket`, `gcra` or `leakyBucket` cannot know whether the policy had
   * counted those permits. So a key that was over its own limit may have up to one limit more when the override ends.
   * An override of `concurrency` keeps the lease of the policy.
   * @param policy of the same algorithm; with several `policies` an object of the policies to override, by their names
   * @throws TypeError for a policy of another algorithm or an unknown name; all errors of `block`
   */
  async override(
    key: LimiterKey,
    policy: Policy | Readonly<Record<string, Policy>>,
    options: { readonly expiresIn: Duration },
  ): Promise<void> {
    checkOptions('override', options, ['expiresIn']);
    const wait = toMicros('override: expiresIn', options.expiresIn);
    const { parts, overrides } = this.#limits.overridden(this.#limits.parts(key, 1), policy);
    await this.#admission.change({ operation: 'override', wait, parts, overrides });
  }

  /** Ends an override early. @throws as `block` does */
  async removeOverride(key: LimiterKey): Promise<void> {
    await this.#change('override', 0, key);
  }

  /**
   * Clears what a key took, its bookings, a block and the denials that `escalate` has counted: all its permits are back. An override stays.
   * Calls that wait for a `concurrency` permit poll again at once. Booked calls resolve at their moment.
   * @throws as `block` does
   */
  async reset(key: LimiterKey): Promise<void> {
    await this.#change('reset', 0, key);
  }

  /**
   * Ends all waits with a `LimiterClosedError`, returns their permits and prefetched ones, and closes the store if none was passed.
   * Leases are no longer renewed, and the signals of scheduled tasks are aborted.
   */
  async close(): Promise<void> {
    for (const end of this.#endUses) end();
    await this.#admission.close();
    await this.#limits.close();
    await this.#ownStore?.close();
  }

  async #change(operation: Operation, wait: number, key: LimiterKey): Promise<void> {
    await this.#admission.change({ operation, wait, parts: this.#limits.parts(key, 1) });
  }

  /** @internal For combinations, factories and limits on requests. */
  static internals(limiter: RateLimiter) {
    return { store: limiter.#store, limits: limiter.#limits, admission: limiter.#admission };
  }
}
