import type { Meter } from '@opentelemetry/api';
import type { LeaseMessage } from '@sluice/core';
import { type AttributeNames, LIMITER } from './attributes.js';
import { type AnySeries, type Count, Series } from './series.js';

/** Counts the leases of `concurrency` policies that this process holds. */
export class Leases {
  /** Leases that were counted. A lease from before `instrument` must not be subtracted when it ends. */
  readonly #held = new WeakMap<LeaseMessage, Count>();
  readonly #leases;
  readonly series: readonly AnySeries[];

  constructor(
    meter: Meter,
    private readonly names: AttributeNames,
  ) {
    this.#leases = new Series(
      meter.createObservableUpDownCounter('sluice.leases', {
        unit: '{lease}',
        description: 'Leases of held permits.',
      }),
      [LIMITER] as const,
    );
    this.series = [this.#leases];
  }

  /** The same message is published when permits are held and when they are no longer held. */
  count(message: LeaseMessage): void {
    if (message.state === 'held') {
      const leases = this.#leases.of(this.names.limiters.fold(message.limiter));
      leases.value += 1;
      this.#held.set(message, leases);
      return;
    }
    const leases = this.#held.get(message);
    if (leases === undefined) return;
    leases.value -= 1;
    this.#held.delete(message);
  }
}
