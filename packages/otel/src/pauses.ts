import type { Meter } from '@opentelemetry/api';
import type { PauseMessage } from '@sluice/core';
import { type AttributeNames, KIND, SCOPE, UPSTREAM } from './attributes.js';
import { type AnySeries, Series } from './series.js';

/** Counts the pauses of other services that this process has stored. */
export class Pauses {
  readonly #pauses;
  readonly series: readonly AnySeries[];

  constructor(
    meter: Meter,
    private readonly names: AttributeNames,
  ) {
    this.#pauses = new Series(
      meter.createObservableCounter('sluice.pauses', {
        unit: '{pause}',
        description: 'Pauses of other services that this process has begun or made longer.',
      }),
      [UPSTREAM, SCOPE, KIND] as const,
    );
    this.series = [this.#pauses];
  }

  count({ upstream, state, scope, kind }: PauseMessage): void {
    if (state === 'paused') this.#pauses.of(this.names.limiters.fold(upstream), scope, kind).value += 1;
  }
}
