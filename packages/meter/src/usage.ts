import type { Store } from '@sluice/core';
import { loadFleet } from '@sluice/core/internal';
import type { WholeAmounts } from './amounts.js';
import type { Denial } from './errors.js';
import type { HeldAxis } from './parts.js';

/** Counts the calls of one axis. Its functions never throw. */
interface AxisCounter {
  count(result: 'allowed' | 'denied', shadow: boolean): void;
  took(key: string, cost: number): void;
  denied(key: string, shadow: boolean): void;
}

/** What a meter uses of `@sluice/fleet`. */
interface MeterWatching {
  callCounter(usage: NonNullable<Store['usage']>, limiter: string): AxisCounter;
}

/** Counts what the holds of a meter spend, under the names of its axes, for a store with the option `usage`. */
export class MeterUsage {
  readonly #axes = new Map<string, AxisCounter>();
  readonly #counterOf: (axis: string) => AxisCounter;

  private constructor(usage: NonNullable<Store['usage']>, name: string) {
    const { callCounter } = loadFleet<MeterWatching>(`meter '${name}'`);
    this.#counterOf = (axis) => callCounter(usage, `${name}:${axis}`);
  }

  /** Undefined for a store without the option. */
  static of({ usage }: Store, name: string): MeterUsage | undefined {
    return usage === undefined ? undefined : new MeterUsage(usage, name);
  }

  /** A hold has begun. */
  held(axes: readonly HeldAxis[]): void {
    for (const axis of new Set(axes.map((one) => one.axis))) this.#of(axis).count('allowed', false);
  }

  /** A hold was denied: by one axis of one scope. */
  denied(axes: readonly HeldAxis[], { axis, scope }: Denial): void {
    const counter = this.#of(axis);
    counter.count('denied', false);
    counter.denied(axes.find((one) => one.axis === axis && one.scope === scope)!.key, false);
  }

  /** A hold was settled. What runs at once is not spent. */
  settled(axes: readonly HeldAxis[], used: WholeAmounts): void {
    for (const { axis, key, spent } of axes)
      if (spent !== undefined) this.#of(axis).took(key, used[axis] ?? 0);
  }

  #of(axis: string): AxisCounter {
    const counter = this.#axes.get(axis) ?? this.#counterOf(axis);
    this.#axes.set(axis, counter);
    return counter;
  }
}
