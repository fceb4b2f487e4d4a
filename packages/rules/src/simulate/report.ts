import type { Policy } from '@sluice/core';
import type { UseQuantiles } from './figures/key-uses.js';
import type { OverTime } from './figures/time-series.js';
import type { BadLine } from './log/read-log.js';
import type { Unresolved } from './logged-rules.js';

/** A key, and how many of its requests. The true count lies in `[requests - error, requests]`. */
export interface HitKey {
  readonly key: string;
  readonly requests: number;
  readonly error: number;
}

/** The smallest limit that denies at most a given share. */
export interface SmallestLimit {
  /** The share that was asked for. */
  readonly target: number;
  /** Undefined if even the largest limit of the algorithm denies more. */
  readonly limit: number | undefined;
  /** The policy with this limit; a rate that goes with it grows in proportion. */
  readonly policy: Policy | undefined;
  /** Requests that it denies by itself; undefined without a limit. */
  readonly denied: number | undefined;
  /** False if requests had different costs: `limit - 1` denies too many, but a number far below `limit` may not. */
  readonly exact: boolean;
}

/** One limit of a rule; with plans one for each plan that was met. */
export interface LimitReport {
  /** `rule.limit`, or `rule` with a single limit. */
  readonly limit: string;
  readonly plan: string | undefined;
  readonly policy: Policy;
  readonly requests: number;
  /** Requests that this limit denied, also if another one denied them, too. */
  readonly denied: number;
  readonly keys: number;
  readonly use: UseQuantiles;
  /** Only with a target. */
  readonly smallest: SmallestLimit | undefined;
}

export interface RuleReport {
  readonly rule: string;
  readonly mode: 'enforce' | 'shadow';
  /** The rule that a shadow compares with. */
  readonly compare: string | undefined;
  /** `IP`, `USER`, `METHOD` or the template. */
  readonly key: string;
  /** Requests that it decided. */
  readonly requests: number;
  /** Requests that a limit of this rule denied, or would have. */
  readonly denied: number;
  /** Different keys; with `moreKeys` there were more. */
  readonly keys: number;
  readonly moreKeys: boolean;
  readonly limits: readonly LimitReport[];
  /** The keys that were denied most. */
  readonly hit: readonly HitKey[];
  readonly overTime: OverTime;
  /** Requests that it applies to, and whose key or cost is not in the log. It was left out for them. */
  readonly unresolved: Unresolved | undefined;
  /** What was assumed for this rule because the log does not say it, in sentences. */
  readonly assumed: readonly string[];
}

/** What one document of rules decided. */
export interface ReplayReport {
  /** Its file, or its name. */
  readonly name: string;
  readonly version: string | number | undefined;
  readonly requests: number;
  readonly denied: number;
  /** Requests that no rule limits. */
  readonly unlimited: number;
  /** In the order of the document. */
  readonly rules: readonly RuleReport[];
  /** Rules without a match: only code uses them, so a log says nothing about them. */
  readonly rulesForCode: readonly string[];
  /** The store was full: some keys may have lost their counts. */
  readonly storeFull: boolean;
}

/** Requests that two documents decide differently. */
export interface Difference {
  readonly requests: number;
  /** The most of them first; `rule` denied, and `key` is the key for that rule. */
  readonly keys: readonly (HitKey & { readonly rule: string })[];
}

export interface Simulation {
  readonly log: {
    readonly files: readonly {
      readonly name: string;
      readonly format: string;
      readonly damage: string | undefined;
    }[];
    readonly lines: number;
    readonly requests: number;
    readonly bad: number;
    readonly firstBad: readonly BadLine[];
    /** Requests that came too late to be put in order: they were decided at the moment of those before. */
    readonly late: number;
    /** First and last moment, ms since 1970; undefined without requests. */
    readonly from: number | undefined;
    readonly to: number | undefined;
    /** All moments are whole seconds. */
    readonly wholeSeconds: boolean;
    /** Does a request say how long it took? Without that, `concurrency` permits are released at once. */
    readonly durations: boolean;
  };
  readonly rules: ReplayReport;
  readonly against: ReplayReport | undefined;
  /** Only with `against`. */
  readonly newlyDenied: Difference | undefined;
  readonly newlyAllowed: Difference | undefined;
}
