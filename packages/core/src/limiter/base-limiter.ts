import type { KeyCall, Operation, Part } from '../call/call.js';
import type { Decision } from '../decision.js';
import { isPromise, type MaybePromise } from '../maybe-promise.js';
import { checkOptions, describe } from '../options.js';
import type { Admission } from './admission.js';
import {
  type AcquireOptions,
  type Cost,
  type Costs,
  checkCost,
  costOption,
  DECISION_OPTIONS,
  type DecisionOptions,
  flag,
  NO_OPTIONS,
  type WaitOptions,
  waitOptions,
} from './call-options.js';
import type { TopKeys } from './observer.js';
import { Reservation } from './reservation.js';

/** What `schedule` passes to a task. */
export interface TaskContext {
  readonly decision: Decision;
  /** Aborted if a lease of the task is lost: another task may run by now. */
  readonly signal: AbortSignal;
}

/** A task of `schedule`. */
export type ScheduledTask<T> = (context: TaskContext) => T | Promise<T>;

const NEVER_LOST = new AbortController().signal;

/** Makes the calls of a limiter. */
export interface CallFactory<Key> {
  /** The names in a cost by name. */
  readonly names: readonly string[];
  call(operation: Operation, key: Key, costs: Costs, traced?: boolean): KeyCall;
}

/** What `RateLimiter` and `CombinedLimiter` have in common. `Key` is what one call passes: a key, or a key for each member. */
export abstract class BaseLimiter<Key> {
  readonly #admission: Admission;
  readonly #calls: CallFactory<Key>;

  /** @internal */
  constructor(
    /** In keys, decisions, headers and errors. */
    readonly name: string,
    admission: Admission,
    calls: CallFactory<Key>,
  ) {
    this.#admission = admission;
    this.#calls = calls;
  }

  /**
   * Takes permits now, or says how long to wait. Resolves to the decision, allowed or denied.
   * @throws StoreUnavailableError, StoreConfigurationError, LimiterClosedError; RangeError for an invalid cost, KeyResolutionError for
   *   an invalid key
   */
  consume(key: Key, options: DecisionOptions = NO_OPTIONS): Promise<Decision> {
    // Not an async function: that would add two promises.
    try {
      return Promise.resolve(this.#admit('consume', key, options));
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /**
   * `consume` without a promise, for a store in this process or in a file of this machine.
   * @throws TypeError if the store answers over the network, or later; all errors of `consume`
   */
  consumeSync(key: Key, options: DecisionOptions = NO_OPTIONS): Decision {
    const { decider, refunds } = this.#admission;
    let why = 'which answers over the network: use consume';
    if (decider.dispatch === undefined || decider.dispatchNow !== undefined) {
      const decision = this.#admit('consume', key, options, true);
      if (!isPromise(decision)) return decision;
      // Only the answer of a program's own store shows that it comes later: the permits come back.
      decision.then((late) => refunds.refund(late, 'cancel')).catch(() => {});
      why = 'which answers later: use consume';
    }
    throw new TypeError(`consumeSync: limiter '${this.name}' counts in a ${decider.name} store, ${why}`);
  }

  /**
   * Takes permits. Books future ones if necessary, and resolves when they are due: first come, first served, also among processes, with
   * one call to the store. For a `concurrency` policy it waits in a queue until other calls release their permits. You hold the permits
   * until you `release` the decision. A `CombinedLimiter` call that waits for one member delays no calls of the others.
   * @throws RateLimitExceededError if no permits come within `timeout`; the signal's reason if it is aborted; all errors of `consume`
   */
  async acquire(key: Key, options: AcquireOptions = NO_OPTIONS): Promise<Decision> {
    const costs = costOption('acquire', options, this.#calls.names, ['cost', 'timeout', 'signal']);
    const call = this.#calls.call('acquire', key, costs);
    return this.#admission.acquire(call.parts, waitOptions('acquire', options));
  }

  /** The decision that `consume` would return now. Takes nothing: `remaining` counts the permits before the call. @throws as `consume` does */
  async peek(key: Key, options: DecisionOptions = NO_OPTIONS): Promise<Decision> {
    return this.#admit('peek', key, options);
  }

  /**
   * Returns the permits of a decision of this limiter, once. Permits that came back by themselves meanwhile do not count twice.
   * @throws TypeError for anything else; StoreUnavailableError: with `neverSent` you may refund again, otherwise the outcome is unknown
   */
  async refund(decision: Decision): Promise<void> {
    await this.#admission.refunds.refund(decision, 'refund');
  }

  /** Releases `concurrency` permits and admits waiting calls. Other permits stay spent. @throws as `refund` does */
  async release(decision: Decision): Promise<void> {
    await this.#admission.refunds.release(decision);
  }

  /**
   * Takes an estimated cost. Settle the reservation when you know the actual cost. Waits only if you pass a `timeout`.
   * @throws as `acquire` does
   */
  async reserve(key: Key, estimate: Cost, options: WaitOptions = NO_OPTIONS): Promise<Reservation> {
    checkOptions('reserve', options, ['timeout', 'signal']);
    const { names } = this.#calls;
    const call = this.#calls.call('consume', key, checkCost('reserve: estimate', estimate, names));
    const decision = await this.#admission.reserve(call, waitOptions('reserve', options));
    return new Reservation(decision, this.#admission, names);
  }

  /**
   * Runs `task` when its permits are due, and releases held permits when it ends. Options are those of `acquire`. Settles as the task does.
   * @throws as `acquire` does, and then the task has not run; TypeError if the task is not a function
   */
  async schedule<T>(key: Key, task: ScheduledTask<T>, options: AcquireOptions = NO_OPTIONS): Promise<T> {
    checkTask(
      'schedule',
      task,
      typeof key === 'function' ? ". Pass the key first: schedule('all', task)" : '',
    );
    const decision = await this.acquire(key, options);
    try {
      return await task({ decision, signal: this.#admission.lost(decision) ?? NEVER_LOST });
    } finally {
      // A store that is out does not change the task's result: the lease expires.
      await this.#admission.refunds.release(decision).catch(() => {});
    }
  }

  /**
   * The keys that were denied most in the last minutes, and that took most, by the calls of this process; `readUsage` merges the counts of
   * all processes.
   * @throws TypeError unless the store was created with `usage: true`
   */
  topKeys(): TopKeys {
    const { observer } = this.#admission;
    if (observer?.topKeys !== undefined) return observer.topKeys();
    throw new TypeError(
      `topKeys: the store of limiter '${this.name}' does not count keys. Create it with usage: redisStore({ url, usage: true }) or ` +
        'memoryStore({ usage: true })',
    );
  }

  /** Returns at once if the store needs no network. */
  #admit(
    operation: 'consume' | 'peek',
    key: Key,
    options: DecisionOptions,
    now = false,
  ): MaybePromise<Decision> {
    const calls = this.#calls;
    if (options === NO_OPTIONS) return this.#admission.admit(calls.call(operation, key, 1), false, now);
    const costs = costOption(operation, options, calls.names, DECISION_OPTIONS);
    const call = calls.call(operation, key, costs, flag(operation, options, 'debug'));
    return this.#admission.admit(call, flag(operation, options, 'shadow'), now);
  }

  /** @internal `consume` that returns at once if the store needs no network. */
  static consumer<Key>(limiter: BaseLimiter<Key>) {
    return (key: Key, options: DecisionOptions = NO_OPTIONS) => limiter.#admit('consume', key, options);
  }

  /** @internal Refunds what the members of these names took, and releases what the others hold. */
  static async refundMembers<Key>(
    limiter: BaseLimiter<Key>,
    decision: Decision,
    members: readonly string[],
  ): Promise<void> {
    const { refunds } = limiter.#admission;
    const costOfMember = ({ limit, cost }: Part) => (members.includes(limit.policy) ? cost : 0);
    await refunds.refund(decision, 'refund', costOfMember);
    await refunds.release(decision);
  }

  /** @internal Does a call wait, or is a permit held? */
  static isBusy<Key>(limiter: BaseLimiter<Key>): boolean {
    return limiter.#admission.busy;
  }
}

/** @throws TypeError */
export function checkTask(method: string, task: unknown, remedy = ''): void {
  if (typeof task !== 'function') {
    throw new TypeError(`${method}: the task must be a function, not ${describe(task)}${remedy}`);
  }
}
