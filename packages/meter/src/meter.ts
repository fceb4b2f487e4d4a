import { type Answer, isStoreUnavailableError, type Part, type RateLimiter } from '@sluice/core';
import { checkOptions, deciderOf, describe, KEEP, KeyCall, REFUND, RecentMap } from '@sluice/core/internal';
import { type Amounts, checkAmounts } from './amounts.js';
import type { BudgetState } from './budget-state.js';
import { Hold, type HoldContext } from './hold.js';
import { stateOf } from './left.js';
import {
  checkLapse,
  checkMeterOptions,
  checkTtl,
  type HoldOptions,
  type MeterOptions,
} from './meter-options.js';
import { type HeldAxis, MeterKeys } from './parts.js';

/** Ids whose holds may have begun without this process knowing it. */
const MOST_UNKNOWN = 10_000;

/**
 * Budgets on several axes, such as tokens and dollars, for several keys of a caller at once.
 * @throws RangeError, TypeError naming the invalid option. Does no I/O.
 */
export function meter<Axes extends string, Who = string>(options: MeterOptions<Who, Axes>): Meter<Who, Axes> {
  return new Meter(options);
}

/** What `meter` returns. */
export class Meter<Who, Axes extends string> {
  readonly name: string;
  /** The limiter of each axis but `concurrency`, to block a key or to override its numbers: `budget.limiters.usd`. */
  readonly limiters: Readonly<Record<string, RateLimiter>>;
  readonly #options: ReturnType<typeof checkMeterOptions<Who, Axes>>;
  readonly #keys: MeterKeys;
  readonly #context: HoldContext;
  readonly #decide: (
    operation: 'hold' | 'settle' | 'peek',
    wait: number,
    parts: readonly Part[],
  ) => Promise<Answer>;
  /** The owner under which each of them may have begun. */
  readonly #unknown = new RecentMap<string, number>(MOST_UNKNOWN, () => false);

  /** @internal */
  constructor(options: MeterOptions<Who, Axes>) {
    const checked = checkMeterOptions(options);
    const { name, axes, store, keyPrefix, soft, deadline, names } = checked;
    this.name = name;
    this.#options = checked;
    this.#keys = new MeterKeys(name, axes, store, keyPrefix, soft);
    this.limiters = this.#keys.limiters;
    const decider = deciderOf(store, { deadline, denyCache: 0 });
    this.#decide = async (operation, wait, parts) =>
      decider.decide(KeyCall.of({ operation, wait, parts, traced: true }));
    this.#context = { name, keys: this.#keys, axisNames: names, decide: this.#decide };
  }

  /**
   * Holds amounts of all axes and scopes, or of none. Settle or cancel the hold when the call is over.
   * @throws BudgetExceededError if they do not fit; HoldInUseError if another call has the id; StoreUnavailableError: repeat it with
   *   the same id; TypeError, RangeError for amounts that are not whole numbers
   */
  async hold(who: Who, amounts: Amounts<Axes>, options: HoldOptions = {}): Promise<Hold<Axes>> {
    checkOptions('hold', options, ['id', 'ttl', 'lapse']);
    const { names, lapse: usualLapse, ttl: usualTtl } = this.#options;
    const { id = crypto.randomUUID(), ttl, lapse = usualLapse } = options;
    if (typeof id !== 'string' || id === '')
      throw new TypeError(`hold: id must be a text, not ${describe(id)}`);
    const kind = checkLapse('hold: lapse', lapse) === 'keep' ? KEEP : REFUND;
    const micros = ttl === undefined ? usualTtl : checkTtl('hold: ttl', ttl);
    const given = checkAmounts('hold', amounts, names);
    const axes = this.#axesOf(who);
    const whole: Record<string, number> = {};
    for (const { axis } of axes) whole[axis] = given[axis] ?? this.#keys.usualOf(axis);
    for (const axis of Object.keys(given)) {
      if (given[axis]! > 0 && whole[axis] === undefined)
        throw new TypeError(
          `hold: no scope of this caller has the axis '${axis}', so its amount would not be counted`,
        );
    }
    const { key } = this.#keys.recordOf(id, axes, 0, 0);
    const owner = this.#unknown.get(key) ?? randomOwner();
    const reportSoft = (state: BudgetState) => this.#reportSoft(who, state);
    const hold = new Hold<Axes>(this.#context, { id, axes, owner, ttl: micros, reportSoft }, whole);
    try {
      await hold.begin(kind);
    } catch (error) {
      if (isStoreUnavailableError(error) && !error.neverSent) this.#unknown.set(key, owner);
      throw error;
    }
    this.#unknown.delete(key);
    return hold;
  }

  /** The used, held and left amounts of a caller. Takes nothing. @throws StoreUnavailableError */
  async status(who: Who): Promise<BudgetState> {
    const axes = this.#axesOf(who);
    return stateOf(this.name, axes, await this.#decide('peek', 0, this.#keys.partsOf(axes, {})), 0);
  }

  #axesOf(who: Who): HeldAxis[] {
    return this.#keys.axesOf(this.#options.scopes(who));
  }

  #reportSoft(who: Who, { lines }: BudgetState): void {
    const { soft, onSoftLimit } = this.#options;
    if (onSoftLimit === undefined) return;
    for (const { axis, scope, left, limit, resetAfter } of lines)
      if (soft.has(axis) && left < 0)
        onSoftLimit({ axis, scope, left, limit, retryAfter: resetAfter, lines }, who);
  }

  /** Ends the limiters of the axes. Holds that are open stay in the store until they are settled or lapse. */
  async close(): Promise<void> {
    await this.#keys.close();
  }
}

/** A random whole number below 2^53. */
function randomOwner(): number {
  const [high, low] = crypto.getRandomValues(new Uint32Array(2));
  return high! * 2 ** 21 + (low! >>> 11);
}
