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
  /** The given share. */
  readonly target: number;
  /** Undefined if even the largest limit of the algorithm denies more. */
  readonly limit: number | undefined;
  /** The policy with this limit. A rate that belongs to the limit grows in proportion. */
  readonly policy: Policy | undefined;
  /** Requests that this limit alone denies; undefined without a limit. */
  readonly denied: number | undefined;
  /** False if requests had different costs: `limit - 1` denies too many, but a number far below `limit` can deny few enough. */
  readonly exact: boolean;
}

/** One limit of a rule. With plans, there is one entry for each plan that occurred. */
export interface LimitReport {
  /** `rule.limit`, or `rule` with a single limit. */
  readonly limit: string;
  readonly plan: string | undefined;
  readonly policy: Policy;
  readonly requests: number;
  /** Requests that this limit denied, including those that another limit also denied. */
  readonly denied: number;
  readonly keys: number;
  readonly use: UseQuantiles;
  /** Only with a target. */
  readonly smallest: SmallestLimit | undefined;
}

export interface RuleReport {
  readonly rule: string;
  readonly mode: 'enforce' | 'shadow';
  /** The rule that a shadow rule compares with. */
  readonly compare: string | undefined;
  /** `IP`, `USER`, `METHOD` or the template. */
  readonly key: string;
  /** Requests that the rule decided. */
  readonly requests: number;
  /** Requests that a limit of this rule denied, or would have denied. */
  readonly denied: number;
  /** Different keys; with `moreKeys` there were more. */
  readonly keys: number;
  readonly moreKeys: boolean;
  readonly limits: readonly LimitReport[];
  /** The keys that were denied most. */
  readonly hit: readonly HitKey[];
  readonly overTime: OverTime;
  /** Requests that match the rule and lack its key or cost in the log. The rule did not count them. */
  readonly unresolved: Unresolved | undefined;
  /** Assumptions for this rule about values that the log lacks, as sentences. */
  readonly assumed: readonly string[];
}

/** The results of one document of rules. */
export interface ReplayReport {
  /** The file of the document, or its name. */
  readonly name: string;
  readonly version: string | number | undefined;
  readonly requests: number;
  readonly denied: number;
  /** Requests that no rule limits. */
  readonly unlimited: number;
  /** The rules in the order of the document. */
  readonly rules: readonly RuleReport[];
  /** Rules without a match: only code uses them, so a log says nothing about them. */
  readonly rulesForCode: readonly string[];
  /** The store was full: some keys can have lost their counts. */
  readonly storeFull: boolean;
}

/** Requests that two documents decide differently. */
export interface Difference {
  readonly requests: number;
  /** The keys with most requests first. `rule` is the rule that denied, and `key` is the key of that rule. */
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
    /** Requests that arrived too late to be sorted. They were decided at the moment of the request before. */
    readonly late: number;
    /** First and last moment, ms since 1970; undefined without requests. */
    readonly from: number | undefined;
    readonly to: number | undefined;
    /** All moments are whole seconds. */
    readonly wholeSeconds: boolean;
    /** Does any request have a duration? Without durations, `concurrency` permits are released at once. */
    readonly durations: boolean;
  };
  readonly rules: ReplayReport;
  readonly against: ReplayReport | undefined;
  /** Only with `against`. */
  readonly newlyDenied: Difference | undefined;
  readonly newlyAllowed: Difference | undefined;
}
