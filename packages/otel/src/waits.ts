import { performance } from 'node:perf_hooks';
import type { Histogram, Meter } from '@opentelemetry/api';
import type { DecisionMessage } from '@sluice/core';
import { type AttributeNames, LIMITER, RESULT } from './attributes.js';
import { type AnySeries, type Count, Series } from './series.js';

/** Buckets, s. Waits can take minutes, depending on the policy. */
const WAITS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** Counts waiting calls, and times their waits. */
export class Waits {
  /** Calls whose wait was counted. A call from before `instrument` must not be subtracted when it ends. */
  readonly #seen = new WeakMap<DecisionMessage, { readonly since: number; readonly waiting: Count }>();
  readonly #waiting;
  readonly #duration: Histogram;
  readonly series: readonly AnySeries[];

  constructor(
    meter: Meter,
    private readonly names: AttributeNames,
  ) {
    this.#waiting = new Series(
      meter.createObservableUpDownCounter('sluice.waiting', {
        unit: '{call}',
        description: 'Calls that wait for permits.',
      }),
      [LIMITER] as const,
    );
    this.#duration = meter.createHistogram('sluice.wait.duration', {
      unit: 's',
      description: 'How long calls waited for permits.',
      advice: { explicitBucketBoundaries: WAITS },
    });
    this.series = [this.#waiting];
  }

  /** The same message is published when the wait begins and when the call ends. */
  count(message: DecisionMessage): void {
    const { limiter, result } = message;
    if (result === undefined) {
      const waiting = this.#waiting.of(this.names.limiters.fold(limiter));
      waiting.value += 1;
      this.#seen.set(message, { since: performance.now(), waiting });
      return;
    }
    const seen = this.#seen.get(message);
    if (seen === undefined) return;
    const { since, waiting } = seen;
    waiting.value -= 1;
    this.#duration.record((performance.now() - since) / 1000, { ...waiting.attributes, [RESULT]: result });
  }

  has(message: DecisionMessage): boolean {
    return message.operation === 'acquire' && this.#seen.has(message);
  }
}
