import type { DecisionMessage } from '@sluice/core';
import { type AttributeNames, BoundedNames } from './attributes.js';
import type { SampledHistogram } from './sampled-histogram.js';
import type { Count } from './series.js';

/** The most policies of one limiter with their own time series. A function of the request can name them. */
const POLICIES = 20;

/** The common attributes of the decisions of a row. */
export interface DecisionKind {
  readonly limiter: string;
  readonly policy: string;
  readonly result: DecisionMessage['result'];
  readonly source: string | undefined;
  readonly mode: DecisionMessage['mode'];
  readonly error: string | undefined;
}

/** The counts of a row. The last one is undefined unless its decisions allow. */
export type RowCounts = readonly [decisions: Count, permits: Count, nearLimit: Count | undefined];

/** Decisions with the same attributes, since the last collection. */
export class DecisionRow {
  decisions = 0;
  permits = 0;
  nearLimit = 0;

  constructor(
    readonly kind: DecisionKind,
    readonly duration: SampledHistogram,
    private readonly counts: RowCounts,
  ) {}

  /** Adds the decisions since the last collection to the counts. */
  drain(): void {
    const [decisions, permits, nearLimit] = this.counts;
    decisions.value += this.decisions;
    permits.value += this.permits;
    if (nearLimit !== undefined) nearLimit.value += this.nearLimit;
    this.decisions = 0;
    this.permits = 0;
    this.nearLimit = 0;
  }
}

interface LimiterRows {
  readonly name: string;
  readonly policyNames: BoundedNames;
  readonly policies: Map<string, DecisionRow[]>;
}

/** Rows by their common attributes. Their number is bounded. */
export class DecisionRows {
  readonly #limiters = new Map<string, LimiterRows>();
  readonly all: DecisionRow[] = [];

  constructor(
    private readonly names: AttributeNames,
    private readonly newRow: (kind: DecisionKind) => DecisionRow,
  ) {}

  of({
    limiter: limiterName,
    policy: policyName,
    result,
    mode,
    decision,
    error: reason,
  }: DecisionMessage): DecisionRow {
    const limiter = this.#limiters.get(limiterName) ?? this.#limiter(limiterName);
    const source = decision?.source;
    const error = result === 'error' ? this.names.errorType(reason) : undefined;
    const rows = limiter.policies.get(policyName) ?? rowsOf(limiter, policyName);
    for (const row of rows) {
      const { kind } = row;
      if (kind.result === result && kind.source === source && kind.mode === mode && kind.error === error)
        return row;
    }
    const policy = limiter.policyNames.fold(policyName);
    const row = this.newRow({ limiter: limiter.name, policy, result, source, mode, error });
    this.all.push(row);
    rows.push(row);
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
}

function rowsOf({ policyNames, policies }: LimiterRows, policyName: string): DecisionRow[] {
  const policy = policyNames.fold(policyName);
  const rows = policies.get(policy) ?? [];
  policies.set(policy, rows);
  return rows;
}
