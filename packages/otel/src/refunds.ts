import type { Histogram, Meter } from '@opentelemetry/api';
import type { RefundMessage } from '@sluice/core';
import { type AttributeNames, ERROR_TYPE, LIMITER } from './attributes.js';
import { type AnySeries, Series } from './series.js';

/** Actual ÷ estimate. */
const DRIFTS = [0.1, 0.25, 0.5, 0.75, 0.9, 1, 1.1, 1.25, 1.5, 2, 4, 10];

/** Counts refunded permits, and records how far estimates of reservations were off. */
export class Refunds {
  readonly #refunds;
  readonly #drift: Histogram;
  readonly series: readonly AnySeries[];

  constructor(
    meter: Meter,
    private readonly names: AttributeNames,
  ) {
    this.#refunds = new Series(
      meter.createObservableCounter('sluice.refunds', {
        unit: '{permit}',
        description: 'Permits that were given back, without released leases.',
      }),
      [LIMITER, ERROR_TYPE] as const,
    );
    this.#drift = meter.createHistogram('sluice.reservation.drift', {
      unit: '1',
      description: 'Actual cost of reservations divided by their estimate.',
      advice: { explicitBucketBoundaries: DRIFTS },
    });
    this.series = [this.#refunds];
  }

  count({ limiter: name, reason, permits, estimate, error }: RefundMessage): void {
    const limiter = this.names.limiters.fold(name);
    if (reason !== 'release' && permits > 0) {
      this.#refunds.of(limiter, this.names.errorType(error)).value += permits;
    }
    if (estimate !== undefined && estimate > 0) {
      this.#drift.record((estimate - permits) / estimate, { [LIMITER]: limiter });
    }
  }
}
