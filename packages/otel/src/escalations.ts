import type { Meter } from '@opentelemetry/api';
import type { EscalatedMessage } from '@sluice/core';
import { type AttributeNames, LIMITER } from './attributes.js';
import { type AnySeries, Series } from './series.js';

/** Counts the blocks that repeated denials have set. */
export class Escalations {
  readonly #blocks;
  readonly series: readonly AnySeries[];

  constructor(
    meter: Meter,
    private readonly names: AttributeNames,
  ) {
    this.#blocks = new Series(
      meter.createObservableCounter('sluice.escalations', {
        unit: '{block}',
        description: 'Blocks that repeated denials have set.',
      }),
      [LIMITER] as const,
    );
    this.series = [this.#blocks];
  }

  count({ limiter }: EscalatedMessage): void {
    this.#blocks.of(this.names.limiters.fold(limiter)).value += 1;
  }
}
