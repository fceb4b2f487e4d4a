import type { Histogram, Meter } from '@opentelemetry/api';
import type { DecisionMessage } from '@sluice/core';
import { type AttributeNames, ERROR_TYPE, LIMITER, MODE, POLICY, RESULT, SOURCE } from './attributes.js';
import { type DecisionKind, DecisionRow, DecisionRows } from './decision-rows.js';
import { SampledHistogram } from './sampled-histogram.js';
import { type AnySeries, attributesOf, Series } from './series.js';

/** Share of the limit below which an allowed call is near it. */
const NEAR = 0.2;

/** Buckets, s: from a denial in memory to the longest usual deadline. */
const DURATIONS = [5e-5, 1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 0.01, 0.025, 0.05, 0.1, 0.25];

/** Counts decisions, and times some of them. */
export class Decisions {
  readonly #decisions;
  readonly #permits;
  readonly #nearLimit;
  readonly #duration: Histogram;
  /** Samples by limiter, source and error. */
  readonly #durations = new Map<string, SampledHistogram>();
  readonly #rows: DecisionRows;
  /** The row of the previous decision and the names in its message, because the next decision often has the same row. */
  #lastRow: DecisionRow | undefined;
  #limiter = '';
  #policy = '';
  /** The counts that are observed when metrics are collected. */
  readonly series: readonly AnySeries[];

  /** @param waited true if the call waited for permits: then its time is not the time of the decision */
  constructor(
    meter: Meter,
    names: AttributeNames,
    private readonly waited: (message: DecisionMessage) => boolean,
  ) {
    this.#rows = new DecisionRows(names, (kind) => this.#newRow(kind));
    this.#decisions = new Series(
      meter.createObservableCounter('sluice.decisions', {
        unit: '{decision}',
        description: 'Decisions of limiters.',
      }),
      [LIMITER, POLICY, RESULT, SOURCE, MODE, ERROR_TYPE] as const,
      () => this.#drain(),
    );
    this.#permits = new Series(
      meter.createObservableCounter('sluice.permits', {
        unit: '{permit}',
        description: 'Permits that the decisions were about.',
      }),
      [LIMITER, POLICY, RESULT, MODE] as const,
    );
    this.#nearLimit = new Series(
      meter.createObservableCounter('sluice.near_limit', {
        unit: '{decision}',
        description: 'Allowed decisions that left less than 20 % of the limit.',
      }),
      [LIMITER, POLICY, MODE] as const,
    );
    this.#duration = meter.createHistogram('sluice.decision.duration', {
      unit: 's',
      description: 'Time of a sample of the decisions, without those that waited for permits.',
      advice: { explicitBucketBoundaries: DURATIONS },
    });
    // Decisions first: that drains the rows for all three.
    this.series = [this.#decisions, this.#permits, this.#nearLimit];
  }

  count(message: DecisionMessage): void {
    const { decision } = message;
    const row = this.#rowOf(message);
    row.decisions += 1;
    row.permits += message.cost;
    if (decision?.allowed === true && decision.remaining < NEAR * decision.limit) row.nearLimit += 1;
    if (row.duration.takes(message.endedAt!)) this.#time(message, row.duration);
  }

  #rowOf(message: DecisionMessage): DecisionRow {
    const row = this.#lastRow;
    if (
      row !== undefined &&
      message.limiter === this.#limiter &&
      message.policy === this.#policy &&
      message.result === row.kind.result &&
      message.mode === row.kind.mode &&
      message.decision?.source === row.kind.source &&
      message.error === undefined
    ) {
      return row;
    }
    this.#limiter = message.limiter;
    this.#policy = message.policy;
    this.#lastRow = this.#rows.of(message);
    return this.#lastRow;
  }

  #time(message: DecisionMessage, duration: SampledHistogram): void {
    if (message.result === 'canceled' || this.waited(message)) return;
    duration.record((message.endedAt! - message.startedAt) / 1000);
  }

  #newRow(kind: DecisionKind): DecisionRow {
    const { limiter, policy, result, source, mode, error } = kind;
    const id = `${limiter}\n${source}\n${error}`;
    const attributes = attributesOf([LIMITER, SOURCE, ERROR_TYPE], [limiter, source, error]);
    const duration = this.#durations.get(id) ?? new SampledHistogram(this.#duration, attributes);
    this.#durations.set(id, duration);
    return new DecisionRow(kind, duration, [
      this.#decisions.of(limiter, policy, result, source, mode, error),
      this.#permits.of(limiter, policy, result, mode),
      result === 'allowed' ? this.#nearLimit.of(limiter, policy, mode) : undefined,
    ]);
  }

  #drain(): void {
    for (const row of this.#rows.all) row.drain();
  }
}
