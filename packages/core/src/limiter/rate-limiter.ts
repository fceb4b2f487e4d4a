import type { Policy } from '../algorithms/algorithm.js';
import type { Decision } from '../decision.js';
import { type Duration, toMicros } from '../duration.js';
import type { Decider } from '../engine/call.js';
import type { LimiterKey } from '../keys/key-part.js';
import type { MaybePromise } from '../maybe-promise.js';
import { checkInteger, checkOptions } from '../options.js';
import { deciderOf } from '../pipeline/pipeline.js';
import { memoryStore } from '../stores/memory/memory-store.js';
import type { Store } from '../stores/store.js';
import { Admission } from './admission.js';
import {
  type AcquireOptions,
  type Cost,
  checkCost,
  costOption,
  DECISION_OPTIONS,
  type DecisionOptions,
  debugOption,
  NO_OPTIONS,
  type WaitOptions,
  waitOptions,
} from './call-options.js';
import { checkLimiterOptions, type RateLimiterOptions } from './limiter-options.js';
import type { Limits } from './limits.js';
import { useNames } from './names-in-use.js';
import { type Reservation, reserve } from './reservation.js';
import { type Scheduled, type ScheduledTask, schedule, type WrapOptions, wrap } from './schedule.js';

/**
 * One limit for many keys, each counted by itself. With several `policies` a call passes if all of them have its permits,
 * and takes from all or from none.
 */
export class RateLimiter {
  readonly name: string;
  readonly #limits: Limits;
  readonly #store: Store;
  readonly #ownStore: Store | undefined;
  readonly #admission: Admission;
  readonly #endUse: () => void;

  /** @throws RangeError, TypeError naming the option that is wrong. Does no I/O. */
  constructor(options: RateLimiterOptions);
  /** @internal @param decider shared by limiters that are created at run time with the same options */
  constructor(options: RateLimiterOptions, decider: Decider);
  constructor(options: RateLimiterOptions, decider?: Decider) {
    const checked = checkLimiterOptions(options);
    const { name, limits, store } = checked;
    this.name = name;
    this.#limits = limits;
    this.#ownStore = store === undefined ? memoryStore() : undefined;
    this.#store = store ?? this.#ownStore!;
    this.#admission = new Admission(name, decider ?? deciderOf(this.#store, checked));
    const shares = store !== undefined && decider === undefined;
    this.#endUse = shares ? useNames(store, name, limits.byPrefix) : () => {};
  }

  /** The policies by their names; a single one has the limiter's name. */
  get policies(): Readonly<Record<string, Policy>> {
    return this.#limits.policies;
  }

  /**
   * Takes permits now or says how long to wait. Resolves to the decision, allowed or denied.
   * @throws StoreUnavailableError, StoreConfigurationError, LimiterClosedError; RangeError for a wrong cost,
   *   KeyResolutionError for a wrong key
   */
  consume(key: LimiterKey, options: DecisionOptions = NO_OPTIONS): Promise<Decision> {
    // Not an async function: that would add two promises.
    try {
      return Promise.resolve(this.#decide('consume', key, options));
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /**
   * `consume` without a promise, for a store in this process.
   * @throws TypeError when the store is a remote one; all that `consume` rejects with
   */
  consumeSync(key: LimiterKey, options: DecisionOptions = NO_OPTIONS): Decision {
    if (this.#store.remote) {
      throw new TypeError(
        `consumeSync: limiter '${this.name}' has its counts in a ${this.#store.name} store, which answers later: use consume`,
      );
    }
    return this.#decide('consume', key, options) as Decision;
  }

  /**
   * Takes permits, books future ones if necessary, and resolves when they are due: first come, first served, also among
   * processes, with one call to the store. For a `concurrency` policy it waits in a queue until other calls release their permits. You hold
   * the permits until you `release` the decision.
   * @throws RateLimitExceededError if no permits come within `timeout`; the signal's reason if it is aborted; and all that `consume`
   *   throws
   */
  async acquire(key: LimiterKey, options: AcquireOptions = NO_OPTIONS): Promise<Decision> {
    const costs = costOption('acquire', options, this.#limits.names, ['cost', 'timeout', 'signal']);
    return this.#admission.acquire(this.#limits.parts(key, costs), waitOptions('acquire', options));
  }

  /** The decision that `consume` would return now; takes nothing. `remaining` is what is left before the call. */
  async peek(key: LimiterKey, options: DecisionOptions = NO_OPTIONS): Promise<Decision> {
    return this.#decide('peek', key, options);
  }

  /** Returns the permits of a decision of this limiter, once. Permits that came back by themselves meanwhile do not count twice. */
  async refund(decision: Decision): Promise<void> {
    await this.#admission.refund(decision);
  }

  /** Releases `concurrency` permits and admits waiting calls. Other permits stay spent. */
  async release(decision: Decision): Promise<void> {
    await this.#admission.release(decision);
  }

  /**
   * Takes an estimated cost; the reservation is settled when the actual one is known. Does not wait unless given a `timeout`.
   * @throws as `acquire` does
   */
  async reserve(
    key: LimiterKey,
    estimate: Cost,
    options: WaitOptions = NO_OPTIONS,
  ): Promise<Reservation<Cost>> {
    checkOptions('reserve', options, ['timeout', 'signal']);
    const costs = checkCost('reserve: estimate', estimate, this.#limits.names);
    return reserve(this.#admission, this.#limits.call('consume', key, costs), options, this.#limits.names);
  }

  /** Runs `task` when its permits are due, and releases at its end what it held. Options are those of `acquire`. */
  schedule<T>(key: LimiterKey, task: ScheduledTask<T>, options: AcquireOptions = NO_OPTIONS): Promise<T> {
    return schedule(this.#scheduled, key, task, options);
  }

  /**
   * A function that does what `task` does, each call when its permits are due. By default all calls share one key.
   * @throws TypeError for a wrong option
   */
  wrap<This, Args extends unknown[], T>(
    task: (this: This, ...args: Args) => T | Promise<T>,
    options: WrapOptions<Args> = {},
  ): (this: This, ...args: Args) => Promise<T> {
    return wrap(this.#scheduled, this.name, task, options);
  }

  /** Takes permits as a punishment, even if none are left. */
  async penalty(key: LimiterKey, permits = 1): Promise<void> {
    this.#admission.checkOpen();
    this.#limits.checkSpent();
    await this.#admission.charge(this.#limits.parts(key, checkInteger('penalty: permits', permits, 1)));
  }

  /** Returns permits as a gift, those taken last first. Never more than were taken. */
  async reward(key: LimiterKey, permits = 1): Promise<void> {
    this.#limits.checkSpent();
    await this.#admission.reward(this.#limits.parts(key, checkInteger('reward: permits', permits, 1)));
  }

  /** Denies all calls of a key for `duration` from now. Booked calls keep their moments. Calls that wait for a `concurrency` permit are
   * admitted when the block has ended. */
  async block(key: LimiterKey, duration: Duration): Promise<void> {
    await this.#admission.change('block', toMicros('block: duration', duration), this.#limits.parts(key, 1));
  }

  /** Ends a block early. The key keeps its count. */
  async unblock(key: LimiterKey): Promise<void> {
    await this.#admission.change('block', 0, this.#limits.parts(key, 1));
  }

  /**
   * Gives one key another policy, in all processes, from their next decision until `expiresIn` has passed: for example ten times the
   * limit for one customer. The key keeps its count under both policies. So when the override ends, the key has what it would have
   * without the override, but never owes more than one whole limit.
   * A refund during the override also counts under the policy. A `tokenBucket`, `gcra` or `leakyBucket` cannot know whether the policy had
   * counted those permits. So a key that was over its own limit may then have up to one limit more when the override ends.
   * @param policy of the same algorithm; with several `policies` an object of those to override, by their names
   * @throws TypeError for a policy of another algorithm or a name that is unknown
   */
  async override(
    key: LimiterKey,
    policy: Policy | Readonly<Record<string, Policy>>,
    options: { readonly expiresIn: Duration },
  ): Promise<void> {
    checkOptions('override', options, ['expiresIn']);
    const lasts = toMicros('override: expiresIn', options.expiresIn);
    const { parts, overrides } = this.#limits.overridden(this.#limits.parts(key, 1), policy);
    await this.#admission.change('override', lasts, parts, overrides);
  }

  /** Back to the limiter's own policies. */
  async removeOverride(key: LimiterKey): Promise<void> {
    await this.#admission.change('override', 0, this.#limits.parts(key, 1));
  }

  /**
   * Clears what a key took, its bookings and a block: all its permits are back. An override stays. Calls that wait for a
   * `concurrency` permit ask again at once; calls with a promised moment resolve at that moment.
   */
  async reset(key: LimiterKey): Promise<void> {
    await this.#admission.change('reset', 0, this.#limits.parts(key, 1));
  }

  /**
   * Ends all waits with a `LimiterClosedError`, returns their permits and prefetched ones, and closes the store if none was passed.
   * Leases are no longer renewed, and the signals of scheduled tasks are aborted.
   */
  async close(): Promise<void> {
    this.#endUse();
    await this.#admission.close();
    await this.#limits.close();
    await this.#ownStore?.close();
  }

  get #scheduled(): Scheduled<LimiterKey> {
    return {
      acquire: (key, options) => this.acquire(key, options),
      release: (decision) => this.#admission.release(decision),
      lost: (decision) => this.#admission.lost(decision),
    };
  }

  #decide(operation: 'consume' | 'peek', key: LimiterKey, options: DecisionOptions): MaybePromise<Decision> {
    if (options === NO_OPTIONS) return this.#admission.decide(this.#limits.call(operation, key, 1));
    const costs = costOption(operation, options, this.#limits.names, DECISION_OPTIONS);
    return this.#admission.decide(this.#limits.call(operation, key, costs, debugOption(operation, options)));
  }

  /** @internal For a `CombinedLimiter` and for limits on requests. */
  static internals(limiter: RateLimiter): {
    readonly store: Store;
    readonly limits: Limits;
    readonly admission: Admission;
    /** Is a call waiting, or a permit held? */
    readonly busy: boolean;
    /** `consume`, at once where the store answers at once. */
    consume(key: LimiterKey, options?: DecisionOptions): MaybePromise<Decision>;
  } {
    return {
      store: limiter.#store,
      limits: limiter.#limits,
      admission: limiter.#admission,
      busy: limiter.#admission.busy,
      consume: (key, options = NO_OPTIONS) => limiter.#decide('consume', key, options),
    };
  }
}
