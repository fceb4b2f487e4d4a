import { type Answer, isStoreUnavailableError } from '@sluice/core';
import { KIND, OWNER, RECORD_HEAD, SETTLED } from '@sluice/core/internal';
import { type Amounts, checkAmounts, type WholeAmounts } from './amounts.js';
import type { BudgetState } from './budget-state.js';
import { BudgetExceededError, type Denial, HoldInUseError, HoldLapsedError } from './errors.js';
import { HoldMessages } from './hold-message.js';
import { denialOf, stateOf } from './left.js';
import type { HeldAxis, MeterKeys } from './parts.js';
import type { MeterUsage } from './usage.js';

/** What the holds of a meter have in common. */
export interface HoldContext {
  readonly name: string;
  readonly keys: MeterKeys;
  readonly axisNames: readonly string[];
  /** Undefined: the store does not count calls. */
  readonly usage: MeterUsage | undefined;
  /** The notice board of the store. */
  readonly board: object | undefined;
  decide(operation: 'hold' | 'settle', ttl: number, parts: ReturnType<MeterKeys['partsOf']>): Promise<Answer>;
}

/** What makes one hold. */
export interface HoldSetting {
  readonly id: string;
  readonly axes: readonly HeldAxis[];
  readonly owner: number;
  readonly ttl: number;
  /** @param more the axes of which a call has taken more */
  readonly reportSoft: (state: BudgetState, more: ReadonlySet<string>) => void;
}

/** The first attempt to give back an abandoned hold comes after this time, ms; each next one waits twice as long. */
const FIRST_TRY = 1_000;
/** The least number of attempts within a time to live. */
const TRIES = 3;

/** Amounts that a call may still spend. It lapses after its `ttl` unless it is renewed. */
export class Hold<Axes extends string = string> {
  readonly #context: HoldContext;
  readonly #setting: HoldSetting;
  readonly #messages: HoldMessages;
  #amounts: WholeAmounts;
  #state: BudgetState | undefined;
  #denial: Denial | undefined;
  /** One call after the other: each names whole amounts. */
  #last: Promise<unknown> = Promise.resolve();
  #settled: Promise<BudgetState> | undefined;
  /** The amounts of a `settle` that has rejected: `cancel` in a `finally` block must not give them back. */
  #unsettled: WholeAmounts | undefined;

  /** @internal */
  constructor(context: HoldContext, setting: HoldSetting, amounts: WholeAmounts) {
    this.#context = context;
    this.#setting = setting;
    this.#messages = new HoldMessages(context.name, setting.id, setting.axes, context.board);
    this.#amounts = amounts;
  }

  get id(): string {
    return this.#setting.id;
  }

  /** The name of its meter. */
  get meter(): string {
    return this.#context.name;
  }

  /** How long it lasts unless it is renewed, ms. */
  get ttl(): number {
    return this.#setting.ttl / 1000;
  }

  /** The held amounts. */
  get amounts(): Amounts<Axes> {
    return this.#amounts as Amounts<Axes>;
  }

  /** What was left after the last call of this hold, without what it holds. */
  get state(): BudgetState {
    return this.#state!;
  }

  /** Why the last `more` or `renew` returned false. */
  get denial(): Denial | undefined {
    return this.#denial;
  }

  /** @internal The first call. @throws BudgetExceededError, HoldInUseError */
  async begin(kind: number): Promise<void> {
    const denial = await this.#hold(this.#amounts, kind).catch(async (error: unknown) => {
      const isHeld = this.#state !== undefined; // then `onSoftLimit` threw, and the caller gets no hold to cancel
      if (isHeld) await this.cancel().catch(() => this.abandon());
      throw error;
    });
    const { name, usage } = this.#context;
    if (denial === undefined) return usage?.held(this.#setting.axes);
    usage?.denied(this.#setting.axes, denial);
    throw new BudgetExceededError(name, denial);
  }

  /**
   * Holds these amounts in addition, and begins the `ttl` again. Only the difference must fit.
   * @returns false if it does not: nothing has changed then, and `denial` says why
   * @throws HoldLapsedError, StoreUnavailableError; TypeError after `settle` or `cancel`
   */
  async more(amounts: Amounts<Axes>): Promise<boolean> {
    return (await this.extend(amounts)) === undefined;
  }

  /** @internal As `more`. @returns why it does not fit: a call after it may change `denial` first */
  async extend(amounts: Amounts<Axes>): Promise<Denial | undefined> {
    const more = checkAmounts('more', amounts, this.#context.axisNames);
    return this.#inTurn('more', () => {
      const sums: Record<string, number> = { ...this.#amounts };
      for (const [axis, amount] of Object.entries(more)) sums[axis] = (sums[axis] ?? 0) + amount;
      return this.#hold(checkAmounts('more: the sum', sums, this.#context.axisNames), 0);
    });
  }

  /**
   * Begins the `ttl` again.
   * @returns false if the hold has lapsed, with `lapse: 'refund'`, and its amounts no longer fit
   * @throws as `more` does
   */
  async renew(): Promise<boolean> {
    return (await this.renewed()) === undefined;
  }

  /** @internal As `renew`. @returns why the amounts no longer fit */
  renewed(): Promise<Denial | undefined> {
    return this.#inTurn('renew', () => this.#hold(this.#amounts, 0));
  }

  /**
   * Counts what was used in place of what was held. An axis that is left out counts what was held. To repeat it changes nothing, also if
   * the reply was lost: the first result is the result. More than was held is counted, too, and may make `left` negative.
   * @throws HoldLapsedError, StoreUnavailableError: then call it again; RangeError, TypeError for wrong amounts: `cancel` counts what was held then
   */
  async settle(used: Amounts<Axes>): Promise<BudgetState> {
    return this.endWith(used);
  }

  /** @internal As `settle`, but wrong amounts are thrown at once: another way to settle may have better ones. */
  endWith(used: Amounts<Axes>): Promise<BudgetState> {
    let given: WholeAmounts;
    try {
      given = checkAmounts('settle', used, this.#context.axisNames);
    } catch (error) {
      this.#unsettled ??= { ...this.#amounts }; // something was used, and it is not known how much
      throw error;
    }
    return this.#end(() => {
      this.#unsettled = { ...this.#amounts, ...given };
      return this.#unsettled;
    });
  }

  /**
   * Gives everything back. Does nothing after `settle`, so a `finally` block may call it. If `settle` has rejected, it settles the same
   * amounts, or what was held if those were wrong.
   * @throws as `settle` does
   */
  async cancel(): Promise<void> {
    await this.#end(() => this.#unsettled);
  }

  /**
   * @internal Gives back what this hold may have taken: its caller got an error in place of it. Tries until the store answers, at most for as
   * long as the store remembers the hold.
   */
  abandon(): void {
    let wait = FIRST_TRY;
    let waited = 0;
    const tryLater = () => {
      const ms = Math.min(this.ttl / TRIES, wait);
      wait *= 2;
      waited += ms;
      if (waited <= 2 * this.ttl) setTimeout(tryNow, ms).unref();
    };
    const tryNow = () => {
      this.cancel().catch((error: unknown) => {
        if (isStoreUnavailableError(error)) tryLater();
      });
    };
    tryLater();
  }

  /** @param used returns undefined to give everything back */
  #end(used: () => WholeAmounts | undefined): Promise<BudgetState> {
    if (this.#settled !== undefined) return this.#settled;
    const settled = this.#then(async () => {
      const given = used();
      const answer = await this.#send('settle', given ?? {}, 0);
      const before = this.#settledBefore(answer);
      const amounts = before ?? given;
      const isCanceled = given === undefined && Object.values(before ?? {}).every((amount) => amount === 0);
      this.#context.usage?.settled(this.#setting.axes, amounts ?? {});
      this.#state = stateOf(this.meter, this.#setting.axes, answer, 1);
      if (isCanceled) this.#messages.canceled();
      else this.#messages.settled(amounts!);
      return this.#state;
    });
    this.#settled = settled;
    settled.catch(() => {
      this.#settled = undefined;
    });
    return settled;
  }

  async #inTurn<T>(what: string, work: () => Promise<T>): Promise<T> {
    if (this.#settled !== undefined)
      throw new TypeError(`${what}: the hold '${this.id}' was settled or cancelled`);
    return this.#then(work);
  }

  #then<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => {});
    return done;
  }

  /** @returns why the amounts do not fit */
  async #hold(amounts: WholeAmounts, kind: number): Promise<Denial | undefined> {
    const { axes, ttl, reportSoft } = this.#setting;
    const answer = await this.#send('hold', amounts, kind);
    const isRenewal = this.#state !== undefined && amounts === this.#amounts;
    this.#denial = answer.allowed ? undefined : denialOf(axes, answer, 1);
    if (this.#denial !== undefined) {
      if (isRenewal)
        this.#messages.lapsed(); // otherwise it holds these amounts already
      else this.#messages.denied(amounts, this.#denial);
      return this.#denial;
    }
    this.#messages.held(amounts, ttl);
    const before = this.#state === undefined ? {} : this.#amounts;
    this.#amounts = amounts;
    const state = stateOf(this.meter, axes, answer, 1);
    this.#state = state;
    if (!isRenewal) reportSoft(state, risen(before, amounts));
    return undefined;
  }

  /** The amounts that a call before has settled, whose reply was lost; undefined if there was none. */
  #settledBefore({ parts: [record] }: Answer): WholeAmounts | undefined {
    const before = record!.trace!.before;
    if (before?.[KIND] !== SETTLED) return undefined;
    return Object.fromEntries(this.#setting.axes.map(({ axis }, i) => [axis, before[RECORD_HEAD + i]!]));
  }

  /** Sends it again if the reply was lost: that changes nothing more. */
  async #send(operation: 'hold' | 'settle', amounts: WholeAmounts, kind: number): Promise<Answer> {
    const { decide, keys, name } = this.#context;
    const { id, axes, owner, ttl } = this.#setting;
    const parts = [keys.recordOf(id, axes, owner, kind), ...keys.partsOf(axes, amounts)];
    const send = () => decide(operation, ttl, parts);
    const answer = await send().catch((error: unknown) => {
      if (!isStoreUnavailableError(error) || error.neverSent) throw error;
      return send().catch((second: unknown) => {
        throw isStoreUnavailableError(second) && second.neverSent ? error : second; // the first one was sent
      });
    });
    const [record] = answer.parts;
    if (answer.allowed || record!.wait === 0) return answer;
    const found = record!.trace!.before;
    if (found === undefined || found[OWNER] === owner) {
      if (this.#state !== undefined) this.#messages.lapsed(); // otherwise it may never have begun
      throw new HoldLapsedError(name, id);
    }
    throw new HoldInUseError(name, id);
  }
}

/** The axes of which there is more than before. */
const risen = (before: WholeAmounts, amounts: WholeAmounts): ReadonlySet<string> =>
  new Set(Object.keys(amounts).filter((axis) => amounts[axis]! > (before[axis] ?? 0)));
