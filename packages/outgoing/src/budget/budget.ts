import {
  CombinedLimiter,
  type Cost,
  concurrency,
  type Decision,
  isRateLimitExceededError,
  type Policy,
  RateLimitExceededError,
  RateLimiter,
  type Reservation,
  type Store,
} from '@sluice/core';
import { kindsWithWindows } from '@sluice/core/internal';
import { CallQueues } from '../calls/call-queue.js';
import { nowOf, type WaitLimits } from '../calls/time.js';

/** The name of the limit that the option `concurrency` makes. */
export const CONCURRENCY = 'concurrency';

/** Calls of this process that have a booking in the store for one account; others wait in this process, by priority. */
const BOOKED = 32;
/** The same if calls have priorities: a booking cannot be overtaken. */
const BOOKED_BY_PRIORITY = 4;
/** ms between attempts while too many calls of other processes wait. */
const QUEUE_FULL = 100;

const waitedOf = ({ decision }: Taken): number => decision.waited;

/**
 * Part of a window by which our windows are longer, because not all calls take equally long to arrive. So a call that arrives
 * late, and one of the next window that does not, are no more in one window of the upstream than its limit.
 */
const LONGER = 0.01;
/** ms; the most by which they are. */
export const LONGEST = 20;

/** ms. Calls that leave at once arrive at different times, and as many leave at once one window later. Calls that leave apart do not. */
const GAP = 50;

type Windowed = Policy & { readonly window: number };

/** Does a window end with each call? */
const isSliding = (policy: Policy): policy is Windowed =>
  (policy as Windowed).window !== undefined && !kindsWithWindows.includes(policy.algorithm);

/** A part of a window, at most `LONGEST`; ms in whole µs. */
const partOf = ({ window }: Windowed, part: number): number =>
  Math.min(LONGEST, Math.floor(window * 1000 * part) / 1000);

/** The policy by which calls of these limits leave, so that the upstream finds that they keep them. */
export const onDeparture = (policy: Policy): Policy => {
  if (!isSliding(policy)) return policy;
  const window = Math.round((policy.window + partOf(policy, LONGER)) * 1000) / 1000;
  return { ...policy, window } as Windowed;
};

/** What a `Budget` needs. */
export interface BudgetOptions {
  readonly name: string;
  readonly store: Store;
  readonly keyPrefix: string | undefined;
  readonly deadline: number | undefined;
  readonly limits: Readonly<Record<string, Policy>>;
  readonly concurrency: number | undefined;
  readonly hasPriorities: boolean;
}

/** Permits of one call. */
export interface Taken {
  readonly decision: Decision;
  readonly reservation: Reservation;
}

/** What an account may use, by the limits that are known in advance: all of them or none, for all processes. */
export class Budget {
  readonly limiters: Readonly<Record<string, RateLimiter>>;
  readonly #all: CombinedLimiter;
  readonly #names: readonly string[];
  readonly #queues: CallQueues;
  /** By their names. */
  readonly policies: Readonly<Record<string, Policy>>;
  readonly #store: Store;
  /** Are permits held until the response is over? */
  readonly holds: boolean;

  constructor(options: BudgetOptions) {
    const { name, store, keyPrefix, deadline, limits, concurrency: atOnce } = options;
    const policies: Record<string, Policy> = {};
    for (const [one, policy] of Object.entries(limits)) policies[one] = onDeparture(policy);
    if (atOnce !== undefined) policies[CONCURRENCY] = concurrency({ limit: atOnce });
    this.policies = policies;
    this.#names = Object.keys(policies);
    this.#store = store;
    this.holds = this.#names.some((one) => policies[one]!.algorithm === 'concurrency');
    this.limiters = Object.fromEntries(
      this.#names.map((one) => {
        const policy = policies[one]!;
        // The margin follows the lateness of this process's timers.
        const own = { name: `${name}:${one}`, policy, gap: isSliding(policy) ? GAP : undefined };
        return [one, new RateLimiter({ ...own, store, hashTag: name, keyPrefix, deadline })];
      }),
    );
    this.#all = new CombinedLimiter(this.limiters, { name });
    this.#queues = new CallQueues(options.hasPriorities ? BOOKED_BY_PRIORITY : BOOKED, () => this.now);
  }

  /** ms since 1970. */
  get now(): number {
    return nowOf(this.#store.clock);
  }

  /**
   * Waits for the permits of a call: first come, first served, among all processes.
   * @throws RateLimitExceededError if they do not come before the deadline; the signal's reason
   */
  take(account: string, estimate: Cost, priority: number, limits: WaitLimits): Promise<Taken> {
    const keys = this.#keys(account);
    const cost = this.#costs(estimate);
    return this.#queues.run(account, priority, {
      limits,
      work: () => this.#book(keys, cost, limits),
      waitedOf,
      tooLate: async () =>
        new RateLimitExceededError(await this.#all.peek(keys, { cost }), { queueFull: true }),
    });
  }

  async #book(
    keys: Readonly<Record<string, string>>,
    cost: Cost,
    { deadline, signal }: WaitLimits,
  ): Promise<Taken> {
    for (;;) {
      try {
        const timeout = Math.max(0, deadline - this.now);
        const options = signal === undefined ? { timeout } : { timeout, signal };
        const reservation = await this.#all.reserve(keys, cost, options);
        return { decision: reservation.decision, reservation };
      } catch (error) {
        const isFull = isRateLimitExceededError(error) && error.queueFull;
        if (!isFull || this.now + QUEUE_FULL > deadline) throw error;
        await this.#store.clock.sleep(QUEUE_FULL * 1000, signal);
      }
    }
  }

  /** The same without waiting: undefined if the permits are not there. */
  async takeNow(account: string, estimate: Cost): Promise<Taken | undefined> {
    try {
      const reservation = await this.#all.reserve(this.#keys(account), this.#costs(estimate), { timeout: 0 });
      return { decision: reservation.decision, reservation };
    } catch (error) {
      if (isRateLimitExceededError(error)) return undefined;
      throw error;
    }
  }

  #keys(account: string): Readonly<Record<string, string>> {
    const keys: Record<string, string> = {};
    for (const name of this.#names) keys[name] = account;
    return keys;
  }

  /** A number counts for each limit; a call is always one call at once. */
  #costs(estimate: Cost): Cost {
    if (typeof estimate !== 'number' || estimate === 1) return estimate;
    return Object.fromEntries(this.#names.map((name) => [name, name === CONCURRENCY ? 1 : estimate]));
  }

  /** The call was not sent: everything comes back. */
  async giveBack({ reservation }: Taken): Promise<void> {
    await reservation.cancel();
  }

  /** The response is over: held permits come back. */
  async release({ decision }: Taken): Promise<void> {
    if (this.holds) await this.#all.release(decision);
  }

  async close(): Promise<void> {
    await this.#all.close();
    await Promise.all(Object.values(this.limiters).map((limiter) => limiter.close()));
  }
}
