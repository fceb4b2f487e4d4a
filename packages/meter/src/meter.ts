import { type Answer, isStoreUnavailableError, type Part, type RateLimiter } from '@sluice/core';
import {
  checkOptions,
  deciderOf,
  describe,
  KEEP,
  KeyCall,
  type MeterLimits,
  REFUND,
  RecentMap,
} from '@sluice/core/internal';
import { type Amounts, checkAmounts } from './amounts.js';
import type { BudgetState } from './budget-state.js';
import { PublishedMeter } from './definition.js';
import { isBudgetExceededError } from './errors.js';
import { Hold, type HoldSetting } from './hold.js';
import { stateOf } from './left.js';
import {
  type AnyMeterOptions,
  checkLapse,
  checkMeterOptions,
  checkTtl,
  type HoldOptions,
  type MeterOptions,
  type RuledMeterOptions,
} from './meter-options.js';
import { type HeldAxis, MeterKeys } from './parts.js';
import { MeterUsage } from './usage.js';

/** Ids whose holds may have begun without this process knowing it. */
const MOST_UNKNOWN = 10_000;

/**
 * Budgets on several axes, such as tokens and dollars, for several keys of a caller at once.
 * @throws RangeError, TypeError naming the invalid option. Does no I/O.
 */
export function meter<Axes extends string, Who = string>(options: MeterOptions<Who, Axes>): Meter<Who, Axes>;
/** The same, with the limits of a document of rules. @throws RangeError for a meter that the document does not have */
export function meter<Who = string>(options: RuledMeterOptions<Who>): Meter<Who, string>;
export function meter<Axes extends string, Who>(options: AnyMeterOptions<Who, Axes>): Meter<Who, Axes> {
  return new Meter(options);
}

/** What `meter` returns. */
export class Meter<Who, Axes extends string> {
  readonly name: string;
  readonly #options: ReturnType<typeof checkMeterOptions<Who, Axes>>;
  readonly #published: PublishedMeter;
  readonly #usage: MeterUsage | undefined;
  readonly #decide: (
    operation: 'hold' | 'settle' | 'peek',
    wait: number,
    parts: readonly Part[],
  ) => Promise<Answer>;
  #made: MeterKeys;
  /** The limits that were compared last. */
  #limits: MeterLimits;
  #closed = false;
  /** The owner under which each of them may have begun. */
  readonly #unknown = new RecentMap<string, number>(MOST_UNKNOWN, () => false);

  /** @internal */
  constructor(options: AnyMeterOptions<Who, Axes>) {
    const checked = checkMeterOptions(options);
    const { name, store, keyPrefix, limits, deadline } = checked;
    this.name = name;
    this.#options = checked;
    this.#limits = limits();
    this.#made = this.#makeKeys(this.#limits);
    this.#published = new PublishedMeter(store.fleet, name, keyPrefix, () => this.#publishedLimits());
    this.#usage = MeterUsage.of(store, name);
    const decider = deciderOf(store, { deadline, denyCache: 0 });
    this.#decide = async (operation, wait, parts) =>
      decider.decide(KeyCall.of({ operation, wait, parts, traced: true }));
  }

  /**
   * The limiter of each axis but `concurrency`, to block a key or to override its numbers: `budget.limiters.usd`. Read it for each use: when a
   * document of rules changes the meter, the limiters before are closed.
   */
  get limiters(): Readonly<Record<string, RateLimiter>> {
    return this.#keys.limiters;
  }

  /** The keys with the limits in force. An open hold keeps those with which it began. */
  get #keys(): MeterKeys {
    const limits = this.#options.limits();
    const before = this.#made;
    if (this.#limits === limits || this.#closed) return before;
    if (JSON.stringify(before.limits) !== JSON.stringify(limits)) {
      void before.close(); // its limiters decide nothing for a hold
      this.#made = this.#makeKeys(limits);
      this.#published.changed();
    }
    this.#limits = limits;
    return this.#made;
  }

  /** A document that no longer has the meter rejects its calls. Its last limits stay published. */
  #publishedLimits(): MeterLimits {
    try {
      return this.#options.limits();
    } catch {
      return this.#made.limits;
    }
  }

  #makeKeys(limits: MeterLimits): MeterKeys {
    const { name, store, keyPrefix } = this.#options;
    return new MeterKeys(name, limits, store, keyPrefix);
  }

  /**
   * Holds amounts of all axes and scopes, or of none. Settle or cancel the hold when the call is over.
   * @throws BudgetExceededError if they do not fit; HoldInUseError if another call has the id; StoreUnavailableError: repeat it with
   *   the same id; TypeError, RangeError for amounts that are not whole numbers
   */
  async hold(who: Who, amounts: Amounts<Axes>, options: HoldOptions = {}): Promise<Hold<Axes>> {
    checkOptions('hold', options, ['id', 'ttl', 'lapse']);
    const { lapse: usualLapse, ttl: usualTtl } = this.#options;
    const { id = crypto.randomUUID(), ttl, lapse = usualLapse } = options;
    if (typeof id !== 'string' || id === '')
      throw new TypeError(`hold: id must be a text, not ${describe(id)}`);
    const kind = checkLapse('hold: lapse', lapse) === 'keep' ? KEEP : REFUND;
    const micros = ttl === undefined ? usualTtl : checkTtl('hold: ttl', ttl);
    const keys = this.#keys;
    const given = checkAmounts('hold', amounts, keys.names);
    const axes = this.#axesOf(keys, who);
    const whole: Record<string, number> = {};
    for (const { axis } of axes) whole[axis] = given[axis] ?? keys.usualOf(axis);
    for (const axis of Object.keys(given)) {
      if (given[axis]! > 0 && whole[axis] === undefined)
        throw new TypeError(
          `hold: no scope of this caller has the axis '${axis}', so its amount would not be counted`,
        );
    }
    const { key } = keys.recordOf(id, axes, 0, 0);
    const before = this.#unknown.get(key);
    this.#unknown.delete(key); // of several calls with this id, one repeats it
    const owner = before ?? randomOwner();
    const reportSoft: HoldSetting['reportSoft'] = (state, more) => this.#reportSoft(keys, who, state, more);
    const context = {
      ...{ name: this.name, keys, axisNames: keys.names },
      ...{ decide: this.#decide, usage: this.#usage, board: this.#options.store.fleet },
    };
    const hold = new Hold<Axes>(context, { id, axes, owner, ttl: micros, reportSoft }, whole);
    try {
      await hold.begin(kind);
    } catch (error) {
      const mayHaveBegun = isStoreUnavailableError(error) && !(error.neverSent && before === undefined);
      if (mayHaveBegun && options.id === undefined) hold.abandon();
      // A denial leaves what an attempt before it may hold.
      else if (mayHaveBegun || (before !== undefined && isBudgetExceededError(error)))
        this.#unknown.set(key, owner);
      throw error;
    }
    return hold;
  }

  /** The used, held and left amounts of a caller. Takes nothing. @throws StoreUnavailableError */
  async status(who: Who): Promise<BudgetState> {
    const keys = this.#keys;
    const axes = this.#axesOf(keys, who);
    return stateOf(this.name, axes, await this.#decide('peek', 0, keys.partsOf(axes, {})), 0);
  }

  #axesOf(keys: MeterKeys, who: Who): HeldAxis[] {
    const axes = keys.axesOf(this.#options.scopes(who), this.#options.mayHavePlans);
    this.#published.uses(axes);
    return axes;
  }

  #reportSoft(keys: MeterKeys, who: Who, { lines }: BudgetState, more: ReadonlySet<string>): void {
    const { onSoftLimit } = this.#options;
    if (onSoftLimit === undefined) return;
    for (const { axis, scope, left, limit, resetAfter } of lines)
      if (keys.isSoft(axis) && left < 0 && more.has(axis))
        onSoftLimit({ axis, scope, left, limit, retryAfter: resetAfter, lines }, who);
  }

  /** Ends the limiters of the axes. Holds that are open stay in the store until they are settled or lapse. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#published.end();
    await this.#made.close();
  }
}

/** A random whole number below 2^53. */
function randomOwner(): number {
  const [high, low] = crypto.getRandomValues(new Uint32Array(2));
  return high! * 2 ** 21 + (low! >>> 11);
}
