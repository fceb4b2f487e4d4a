import type { Meter } from '@opentelemetry/api';
import type { HoldMessage } from '@sluice/core';
import { type AttributeNames, AXIS, METER } from './attributes.js';
import { type AnySeries, type Count, Series } from './series.js';

/** Open holds at the first search for lapsed ones, if nobody collects the metrics. */
const LOOK = 1_000;

/** What a hold has been counted as. */
interface Held {
  readonly amounts: readonly (readonly [Count, number])[];
  /** ms, as of `performance.now()`. */
  readonly lapsesAt: number;
}

/** Counts the amounts of budgets by their axes: spent, held by this process, and denied. */
export class Budgets {
  /** Open holds: one whose caller forgets it leaves when it lapses. */
  readonly #open = new Map<HoldMessage, Held>();
  /** Open holds at the next search: twice as many as the last one left, so that a search costs each hold little. */
  #nextLook = LOOK;
  readonly #spent;
  readonly #held;
  readonly #denied;
  readonly series: readonly AnySeries[];

  constructor(
    meter: Meter,
    private readonly names: AttributeNames,
  ) {
    const attributes = [METER, AXIS] as const;
    this.#spent = new Series(
      meter.createObservableCounter('sluice.budget.spent', {
        unit: '1',
        description: 'Amounts that were settled, in the unit of the axis.',
      }),
      attributes,
    );
    this.#held = new Series(
      meter.createObservableUpDownCounter('sluice.budget.held', {
        unit: '1',
        description: 'Amounts that open holds of this process hold, in the unit of the axis.',
      }),
      attributes,
      () => this.#forgetLapsed(),
    );
    this.#denied = new Series(
      meter.createObservableCounter('sluice.budget.denied', {
        unit: '{denial}',
        description: 'Holds, and calls for more, that were denied by this axis.',
      }),
      attributes,
    );
    this.series = [this.#spent, this.#held, this.#denied];
  }

  /** The same message is published with each change of a hold. A hold from before `instrument` must not be subtracted when it ends. */
  count(message: HoldMessage): void {
    const { state, meter: name, amounts, axis, lapsesAt } = message;
    const meter = this.names.limiters.fold(name);
    if (state === 'denied') {
      this.#denied.of(meter, this.names.axes.fold(axis!)).value += 1;
      return;
    }
    this.#forget(message);
    const counted = Object.entries(amounts).filter(([, amount]) => amount > 0);
    const countsOf = (series: Series<readonly [string, string]>) =>
      counted.map(([one, amount]) => [series.of(meter, this.names.axes.fold(one)), amount] as const);
    if (state === 'settled') {
      for (const [spent, amount] of countsOf(this.#spent)) spent.value += amount;
    } else if (state === 'held') {
      if (this.#open.size >= this.#nextLook) this.#forgetLapsed();
      const held = countsOf(this.#held);
      for (const [count, amount] of held) count.value += amount;
      this.#open.set(message, { amounts: held, lapsesAt });
    }
  }

  #forget(message: HoldMessage): void {
    const held = this.#open.get(message);
    if (held === undefined) return;
    this.#open.delete(message);
    for (const [count, amount] of held.amounts) count.value -= amount;
  }

  #forgetLapsed(): void {
    const now = performance.now();
    for (const [message, { lapsesAt }] of this.#open) if (lapsesAt < now) this.#forget(message);
    this.#nextLook = Math.max(LOOK, 2 * this.#open.size);
  }
}
