import type { Policy } from '../algorithms/algorithm.js';
import { fixedWindow } from '../algorithms/fixed-window/fixed-window.js';
import type { DefinitionKind, LimiterDefinition, PlanDefinition } from '../board/definition.js';
import { announce } from '../board/definitions.js';
import type { Decider } from '../call/call.js';
import { LimiterClosedError } from '../errors.js';
import { RecentMap } from '../maps.js';
import { checkInteger, checkOptions, describe, isRecord } from '../options.js';
import { memoryStore } from '../stores/memory/memory-store.js';
import type { Store } from '../stores/store.js';
import {
  checkLimiterOptions,
  deciderOf,
  LIMITER_BASE_OPTIONS,
  type LimiterBaseOptions,
} from './limiter-options.js';
import { LAYOUT } from './limits.js';
import { RateLimiter } from './rate-limiter.js';

/** Options of a `LimiterFactory`: the options of a `RateLimiter`, without its name and policies. */
export interface LimiterFactoryOptions extends Omit<LimiterBaseOptions, 'name'> {
  /** The store of all limiters. Default: a `memoryStore()` of the factory. A store that you pass is yours to close. */
  readonly store?: Store | undefined;
  /** The most limiters to keep, from 1 to 1,000,000; default 1000. */
  readonly max?: number | undefined;
}

/** The limit of one name: a policy, or several policies by name. */
export type LimiterPolicies = Policy | Readonly<Record<string, Policy>>;

/** Checks the other options before a policy is known. */
const ANY_POLICY = fixedWindow({ limit: 1, window: 1 });

/** The numbers of a pool for each plan, the default one first: for other processes. */
type PoolPlans = ReadonlyMap<string, Omit<PlanDefinition, 'policies'> & { readonly limits: LimiterPolicies }>;

/** @internal The most recently used limiters of one store, created at run time with the same options. */
export class LimiterPool {
  readonly store: Store;
  readonly name: string;
  readonly limiters: RecentMap<string, RateLimiter>;
  closed = false;
  /** Limiters that were deleted while a call waited or a permit was held: `close` must reach them, too. */
  readonly #deleted = new Set<RateLimiter>();
  readonly #base: LimiterBaseOptions;
  readonly #ownStore: Store | undefined;
  readonly #decider: Decider;
  #latest: RateLimiter | undefined;
  #endUse: (() => void) | undefined;

  /** @throws RangeError, TypeError naming the invalid option */
  constructor(
    base: LimiterBaseOptions,
    max: number,
    private readonly kind: DefinitionKind = 'per-request',
    private readonly plans: () => PoolPlans | undefined = () => undefined,
  ) {
    // Thresholds by the names of policies are checked when these are known.
    const notify = isRecord(base.notify) ? undefined : base.notify;
    const checked = checkLimiterOptions({ ...base, notify, policy: ANY_POLICY });
    this.#ownStore = checked.store === undefined ? memoryStore() : undefined;
    this.store = checked.store ?? this.#ownStore!;
    this.name = checked.name;
    this.#base = { ...base, name: this.name, store: this.store };
    this.#decider = deciderOf(this.store, checked);
    this.limiters = new RecentMap(max, (limiter) => RateLimiter.isBusy(limiter));
  }

  /** @throws RangeError, TypeError for an invalid name or policy */
  add(key: string, policies: LimiterPolicies, name = this.name): RateLimiter {
    const given = isPolicy(policies) ? { policy: policies } : { policies };
    const limiter = new RateLimiter({ ...this.#base, name, ...given }, this.#decider);
    this.limiters.set(key, limiter);
    this.#latest = limiter;
    if (this.#endUse === undefined) this.announce(true);
    return limiter;
  }

  /**
   * Makes the limiters known to other processes again, by the default plan or by the one used last, or no longer. Of two pools of one name
   * the first is known, until it ends.
   */
  announce(isInForce: boolean): void {
    this.#endUse?.();
    this.#endUse = undefined;
    if (!isInForce || this.#ownStore !== undefined || this.#latest === undefined) return;
    this.#endUse = announce(this.store.fleet, LAYOUT, `${this.kind} ${this.name}`, () => {
      const { limits } = RateLimiter.internals(this.#latest!);
      const plans = this.#plans();
      return { ...limits.definition(this.kind), ...Object.values(plans ?? {})[0], plans };
    });
  }

  #plans(): LimiterDefinition['plans'] {
    const plans = this.plans();
    if (plans === undefined) return undefined;
    const byPlan = [...plans].map(([plan, { limits, escalate, cost }]) => {
      const policies = isPolicy(limits) ? { [this.name]: limits } : limits;
      return [plan, { policies, escalate, cost }] as const;
    });
    return Object.fromEntries(byPlan);
  }

  /**
   * The limiter of these policies. All such limiters have one name: a key keeps what it used when its policies change.
   * @throws RangeError, TypeError for an invalid policy; LimiterClosedError
   */
  byPolicies(policies: LimiterPolicies): RateLimiter {
    this.checkOpen();
    const key = JSON.stringify(policies);
    const kept = this.limiters.get(key);
    if (kept === undefined) return this.add(key, policies);
    this.#latest = kept;
    return kept;
  }

  /** @throws LimiterClosedError */
  checkOpen(): void {
    if (this.closed) throw new LimiterClosedError(`Limiter '${this.name}' was closed`);
  }

  /** Returns whether there was one. */
  delete(key: string): boolean {
    const { isBusy } = this.limiters;
    for (const limiter of this.#deleted) if (!isBusy(limiter)) this.#deleted.delete(limiter);
    const limiter = this.limiters.get(key);
    if (limiter !== undefined && isBusy(limiter)) this.#deleted.add(limiter);
    return this.limiters.delete(key);
  }

  /** A call waits, or a permit is held. */
  get busy(): boolean {
    return this.#all().some(this.limiters.isBusy);
  }

  #all(): RateLimiter[] {
    return [...this.limiters.values(), ...this.#deleted];
  }

  /** Closes all limiters, and the store if none was passed. */
  async close(): Promise<void> {
    this.closed = true;
    this.#endUse?.();
    await Promise.all(this.#all().map((limiter) => limiter.close()));
    await this.#ownStore?.close();
  }
}

/**
 * Creates limiters at run time: one for each tenant, plan or partner. Keeps the `max` most recently used limiters and drops the
 * others. The counts of a dropped limiter stay in the store until they expire. So a name costs about as much as a key.
 */
export class LimiterFactory {
  readonly #pool: LimiterPool;

  /** @throws RangeError, TypeError naming the invalid option. Does no I/O. */
  constructor(options: LimiterFactoryOptions = {}) {
    const own = LIMITER_BASE_OPTIONS.filter((name) => name !== 'name');
    checkOptions('LimiterFactory', options, ['max', ...own]);
    const { max = 1000, ...base } = options;
    checkInteger('LimiterFactory: max', max, 1, 1_000_000);
    this.#pool = new LimiterPool({ ...base, name: 'any' }, max, 'factory');
  }

  /** Number of limiters kept now. */
  get size(): number {
    return this.#pool.limiters.size;
  }

  /**
   * Returns the limiter of this name. Call it for each use instead of keeping the limiter: a dropped limiter still works, but the
   * factory no longer closes it.
   * @param policy called if there is no limiter of this name. To change the policy of a name, `delete` the name first.
   * @throws RangeError, TypeError for an invalid name or policy; every error of `policy`; LimiterClosedError
   */
  get(name: string, policy: () => LimiterPolicies): RateLimiter {
    if (this.#pool.closed) {
      throw new LimiterClosedError(`LimiterFactory: get('${name}') was called after close()`);
    }
    const limiter = this.#pool.limiters.get(name);
    if (limiter !== undefined) return limiter;
    const policies = policy();
    if (typeof policies === 'object' && policies !== null) return this.#pool.add(name, policies, name);
    throw new TypeError(
      `LimiterFactory: the policy of '${name}' must be a policy, such as fixedWindow({ limit: 100, window: '1m' }), or several ` +
        `policies by name, not ${describe(policies)}`,
    );
  }

  /**
   * Drops a limiter: the next `get` creates it again. Its keys keep their counts. Its calls that wait go on waiting, until `close` ends them.
   * Returns whether there was one.
   */
  delete(name: string): boolean {
    return this.#pool.delete(name);
  }

  /** Closes all limiters, and the store if the factory created it. */
  close(): Promise<void> {
    return this.#pool.close();
  }
}

const isPolicy = (given: LimiterPolicies): given is Policy => typeof given.algorithm === 'string';
