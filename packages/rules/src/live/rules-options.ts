import type { LimiterBaseOptions, Store } from '@sluice/core';
import { checkOptions, LIMITER_BASE_OPTIONS } from '@sluice/core/http';

/** Options of `Rules`: those of a `RateLimiter` that rules do not have themselves. */
export interface RulesOptions
  extends Omit<LimiterBaseOptions, 'name' | 'hashTag' | 'prefetch' | 'escalate' | 'notify'> {
  /** Where all limiters count. Default: a `memoryStore()` of these rules. A store that you pass is yours to close. */
  readonly store?: Store | undefined;
}

/** In the document, or for a single policy only. */
const OWN: readonly string[] = ['name', 'hashTag', 'prefetch', 'escalate', 'notify'];
const OPTIONS = LIMITER_BASE_OPTIONS.filter((name) => !OWN.includes(name));

/**
 * @param more options that `where` has and `Rules` does not
 * @throws TypeError naming an unknown option
 */
export const checkRulesOptions = (
  options: RulesOptions,
  where = 'Rules',
  more: readonly string[] = [],
): void => checkOptions(where, options, [...more, ...OPTIONS]);
