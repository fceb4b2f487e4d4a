import type { SampleSummary } from './key-sample.js';
import type { ResultCounts } from './result-slots.js';
import type { Summary } from './summary.js';

/** Has the counts of all other limiters. No limiter can have this name. */
export const OTHER_LIMITERS = '(other)';
/** Limiters of a store that have counts of their own. Names may come from requests, so they must not fill the memory. */
export const MOST_LIMITERS = 50;

/** What a limiter did in the last minutes. */
export interface UsageSummary {
  /** The limiter; `(other)` for all that have no summary of their own. */
  readonly name: string;
  /** Denied calls of each key. */
  readonly denied: Summary;
  /** Those of the last minute. */
  readonly recentlyDenied: Summary;
  /** Calls in shadow mode that would have been denied. */
  readonly shadowDenied: Summary;
  /** Permits that allowed calls of each key took, in both modes. */
  readonly costly: Summary;
  /** Which keys were decided, and how much they used; undefined if the process does not count that. */
  readonly keyUse?: SampleSummary | undefined;
  /** The same of calls in shadow mode. */
  readonly shadowKeyUse?: SampleSummary | undefined;
  readonly enforce: ResultCounts;
  readonly shadow: ResultCounts;
  /** How far back keys are counted, ms. */
  readonly span: number;
}

/** The lists of keys in a summary. */
export const LISTS = ['denied', 'recentlyDenied', 'shadowDenied', 'costly'] as const;
export type ListName = (typeof LISTS)[number];

/** A value for each list. */
export const byList = <T>(make: (list: ListName) => T): Readonly<Record<ListName, T>> =>
  Object.fromEntries(LISTS.map((list) => [list, make(list)])) as Record<ListName, T>;

/** All limiters of a store in this process. */
export interface StoreUsageSummary {
  /** How long the newest slot has been under way, ms. */
  readonly slotAge: number;
  readonly limiters: readonly UsageSummary[];
}
