import { performance } from 'node:perf_hooks';
import type { Attributes, Histogram, Meter } from '@opentelemetry/api';
import type { CallResult, DecisionMessage } from '@sluice/core';
import {
  type AttributeNames,
  BoundedNames,
  ERROR_TYPE,
  LIMITER,
  MODE,
  POLICY,
  RESULT,
  SOURCE,
} from './attributes.js';
import type { Recorder } from './recorder.js';
import { type AnySeries, attributesOf, type Count, Series } from './series.js';

/** Share of the limit below which an allowed call is near it. */
const NEAR = 0.2;
/** Most policies of one limiter that are told apart. A function of the request may name them. */
const POLICIES = 20;
/** Of the decisions that end in one turn of the event loop, one of this number is timed. */
const TIMED = 16;

/** s. From a denial in memory to the longest usual deadline. */
const DURATIONS = [5e-5, 1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 0.01, 0.025, 0.05, 0.1, 0.25];

/** What is counted of the decisions with the same attributes. */
interface Row {
  readonly result: CallResult | undefined;
  readonly source: string | undefined;
  readonly mode: DecisionMessage['mode'];
  readonly error: string | undefined;
  readonly decisions: Count;
  readonly permits: Count;
  /** Undefined unless allowed. */
  readonly nearLimit: Count | undefined;
  readonly timed: Attributes;
}

interface LimiterRows {
  readonly name: string;
  readonly policyNames: BoundedNames;
  readonly policies: Map<string | undefined, PolicyRows>;
}

interface PolicyRows {
  readonly policy: string | undefined;
  readonly rows: Row[];
}

/** Counts decisions, and times some of them. */
export class Decisions {
  readonly #limiters = new Map<string, LimiterRows>();
  readonly #duration: Histogram;
  readonly #decisions;
  readonly #permits;
  readonly #nearLimit;
  /** What is observed when metrics are collected. */
  readonly series: readonly AnySeries[];
  /** Decisions that end before the next timed one. */
  #untimed = 0;

  constructor(
    meter: Meter,
    private readonly names: AttributeNames,
    private readonly recorder: Recorder,
  ) {
    this.#decisions = new Series(
      meter.createObservableCounter('sluice.decisions', {
        unit: '{decision}',
        description: 'Decisions of limiters.',
      }),
      [LIMITER, POLICY, RESULT, SOURCE, MODE, ERROR_TYPE] as const,
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
    this.series = [this.#decisions, this.#permits, this.#nearLimit];
  }

  /** @param waited the call has waited for permits, so its time says nothing about the decision */
  count(message: DecisionMessage, waited: boolean): void {
    const { decision, result } = message;
    const row = this.#row(message);
    row.decisions.value += 1;
    row.permits.value += decision === undefined ? message.cost : decision.cost;
    if (row.nearLimit !== undefined && decision!.remaining < NEAR * decision!.limit) row.nearLimit.value += 1;
    if (this.#untimed > 0) this.#untimed -= 1;
    else if (!waited && result !== 'canceled') this.#time(message, row);
  }

  /** The first decision of the next turn is timed. */
  turned(): void {
    this.#untimed = 0;
  }

  #time({ startedAt }: DecisionMessage, { timed }: Row): void {
    this.#untimed = TIMED - 1;
    this.recorder.record(this.#duration, (performance.now() - startedAt) / 1000, timed);
  }

  #row({ limiter: limiterName, mode, result, decision, error: reason }: DecisionMessage): Row {
    const limiter = this.#limiters.get(limiterName) ?? this.#limiter(limiterName);
    const policyName = decision?.policy;
    const policy = limiter.policies.get(policyName) ?? policyRows(limiter, policyName);
    const source = decision?.source;
    const error = result === 'error' ? this.names.errorType(reason) : undefined;
    for (const row of policy.rows) {
      if (row.result === result && row.source === source && row.mode === mode && row.error === error)
        return row;
    }
    const row = this.#newRow(limiter.name, policy.policy, result, source, mode, error);
    policy.rows.push(row);
    return row;
  }

  #limiter(limiterName: string): LimiterRows {
    const name = this.names.limiters.fold(limiterName);
    const known = this.#limiters.get(name);
    if (known !== undefined) return known;
    const limiter = { name, policyNames: new BoundedNames(POLICIES), policies: new Map() };
    this.#limiters.set(name, limiter);
    return limiter;
  }

  #newRow(
    limiter: string,
    policy: string | undefined,
    result: CallResult | undefined,
    source: string | undefined,
    mode: DecisionMessage['mode'],
    error: string | undefined,
  ): Row {
    return {
      result,
      source,
      mode,
      error,
      decisions: this.#decisions.of(limiter, policy, result, source, mode, error),
      permits: this.#permits.of(limiter, policy, result, mode),
      nearLimit: result === 'allowed' ? this.#nearLimit.of(limiter, policy, mode) : undefined,
      timed: attributesOf([LIMITER, SOURCE, ERROR_TYPE], [limiter, source, error]),
    };
  }
}

function policyRows({ policyNames, policies }: LimiterRows, policyName: string | undefined): PolicyRows {
  const policy = policyName === undefined ? undefined : policyNames.fold(policyName);
  const known = policies.get(policy);
  if (known !== undefined) return known;
  const added = { policy, rows: [] };
  policies.set(policy, added);
  return added;
}
