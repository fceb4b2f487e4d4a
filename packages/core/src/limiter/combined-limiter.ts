import type { Decision } from '../decision.js';
import { KeyCall } from '../engine/call.js';
import type { LimiterKey } from '../keys/key-part.js';
import type { MaybePromise } from '../maybe-promise.js';
import { checkName, checkOptions, describe } from '../options.js';
import type { PolicyLimit, PolicyPart } from '../pipeline/policy-limit.js';
import { Admission } from './admission.js';
import {
  type AcquireOptions,
  type ConsumeOptions,
  type Cost,
  costFor,
  costOption,
  DECISION_OPTIONS,
  type DecisionOptions,
  debugOption,
  NO_OPTIONS,
  type WaitOptions,
  waitOptions,
} from './call-options.js';
import { RateLimiter } from './rate-limiter.js';
import { type Reservation, reserve } from './reservation.js';
import { type ScheduledTask, schedule } from './schedule.js';

/** The key of a call in each member. */
export type CombinedKeys<Names extends string> = Readonly<Record<Names, LimiterKey>>;

/**
 * Several limiters, each with a key of its own, decided together: a call passes when all of them have its permits, and takes
 * from all or from none, in one script call. Costs by name are by the members' names.
 */
export class CombinedLimiter<Names extends string = string> {
  readonly name: string;
  readonly #members: readonly {
    readonly name: Names;
    readonly internals: ReturnType<typeof RateLimiter.internals>;
    /** The limits of the member, as this combination names them. */
    readonly limits: ReadonlyMap<PolicyLimit, PolicyLimit>;
  }[];
  readonly #names: readonly Names[];
  readonly #admission: Admission;

  /**
   * @param limiters by their names here; all in one store
   * @param options `name`: what decisions and errors call it; default the members' names: `perUser+everybody`
   * @throws TypeError when they are in different stores, or in a Redis Cluster without one common `hashTag`
   */
  constructor(
    readonly limiters: Readonly<Record<Names, RateLimiter>>,
    options: { readonly name?: string } = {},
  ) {
    checkOptions('CombinedLimiter', options, ['name']);
    if (options.name !== undefined) checkName('CombinedLimiter: name', options.name);
    const named = typeof limiters === 'object' && limiters !== null && !Array.isArray(limiters);
    if (!named || Object.keys(limiters).length === 0) {
      throw new TypeError(
        `CombinedLimiter takes limiters by name: { perUser, everybody }, not ${describe(limiters)}`,
      );
    }
    this.#names = Object.keys(limiters) as Names[];
    this.#members = this.#names.map((name) => {
      checkName('CombinedLimiter: the name of a limiter', name);
      if (!(limiters[name] instanceof RateLimiter)) {
        throw new TypeError(
          `CombinedLimiter: ${name} must be a RateLimiter, not ${describe(limiters[name])}`,
        );
      }
      const internals = RateLimiter.internals(limiters[name]);
      return { name, internals, limits: internals.limits.namedBy(name) };
    });
    this.name = options.name ?? this.#names.join('+');
    const [first] = this.#members;
    const { store, limits } = first!.internals;
    for (const { name, internals } of this.#members) {
      if (internals.store !== store) {
        throw new TypeError(
          `CombinedLimiter: ${name} is not in the same store as ${first!.name}: what is decided together must live together. ` +
            'Give both limiters the same store object',
        );
      }
      if (store.slotted && (limits.hashTag === undefined || internals.limits.hashTag !== limits.hashTag)) {
        throw new TypeError(
          'CombinedLimiter: a Redis Cluster decides together only what lies in one slot: give all its limiters the same hashTag, ' +
            "such as hashTag: 'orders'; all their keys are then on one node",
        );
      }
    }
    this.#admission = new Admission(this.name, first!.internals.admission.decider);
  }

  /** See `RateLimiter.consume`. */
  async consume(keys: CombinedKeys<Names>, options: DecisionOptions = NO_OPTIONS): Promise<Decision> {
    return this.#decide('consume', keys, options);
  }

  /** See `RateLimiter.acquire`. A call that waits for one member delays nobody in the others. */
  async acquire(keys: CombinedKeys<Names>, options: AcquireOptions = NO_OPTIONS): Promise<Decision> {
    const parts = this.#parts('acquire', keys, options, ['cost', 'timeout', 'signal']);
    return this.#admission.acquire(parts, waitOptions('acquire', options));
  }

  /** See `RateLimiter.peek`. */
  async peek(keys: CombinedKeys<Names>, options: DecisionOptions = NO_OPTIONS): Promise<Decision> {
    return this.#decide('peek', keys, options);
  }

  /** See `RateLimiter.reserve`. */
  async reserve(
    keys: CombinedKeys<Names>,
    estimate: Cost,
    options: WaitOptions = NO_OPTIONS,
  ): Promise<Reservation<Cost>> {
    checkOptions('reserve', options, ['timeout', 'signal']);
    const parts = this.#parts('reserve', keys, { cost: estimate });
    const call = KeyCall.of({ operation: 'consume', wait: 0, parts });
    return reserve(this.#admission, call, options, this.#names);
  }

  /** See `RateLimiter.schedule`. */
  schedule<T>(
    keys: CombinedKeys<Names>,
    task: ScheduledTask<T>,
    options: AcquireOptions = NO_OPTIONS,
  ): Promise<T> {
    const limiter = {
      acquire: (all: CombinedKeys<Names>, acquiring: AcquireOptions) => this.acquire(all, acquiring),
      release: (decision: Decision) => this.release(decision),
      lost: (decision: Decision) => this.#admission.lost(decision),
    };
    return schedule(limiter, keys, task, options);
  }

  /** See `RateLimiter.refund`. */
  async refund(decision: Decision): Promise<void> {
    await this.#admission.refund(decision);
  }

  /** See `RateLimiter.release`. */
  async release(decision: Decision): Promise<void> {
    await this.#admission.release(decision);
  }

  /** Ends all waits of this combination with a `LimiterClosedError`, and gives their permits back. Its members stay open. */
  async close(): Promise<void> {
    await this.#admission.close();
  }

  #decide(
    operation: 'consume' | 'peek',
    keys: CombinedKeys<Names>,
    options: DecisionOptions,
  ): MaybePromise<Decision> {
    const parts = this.#parts(operation, keys, options, DECISION_OPTIONS);
    return this.#admission.decide(
      KeyCall.of({ operation, wait: 0, parts, traced: debugOption(operation, options) }),
    );
  }

  #parts(
    method: string,
    keys: CombinedKeys<Names>,
    options: ConsumeOptions,
    accepted?: readonly string[],
  ): PolicyPart[] {
    const costs = costOption(method, options, this.#names, accepted);
    checkOptions(`${method}: keys`, keys, this.#names);
    return this.#members.flatMap(({ name, internals, limits }) =>
      internals.limits
        .parts(keys[name], costFor(costs, name))
        .map((part) => ({ ...part, limit: limits.get(part.limit)! })),
    );
  }
}
