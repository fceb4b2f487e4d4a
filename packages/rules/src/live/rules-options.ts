import type { LimiterBaseOptions, Store } from '@sluice/core';
import { checkOptions, LIMITER_BASE_OPTIONS } from '@sluice/core/internal';

/** Options of `Rules`: those of a `RateLimiter` that a document does not contain. */
export interface RulesOptions
  extends Omit<LimiterBaseOptions, 'name' | 'hashTag' | 'prefetch' | 'escalate' | 'notify'> {
  /** The store of all limiters. Default: an own `memoryStore()`. Close a store that you pass yourself. */
  readonly store?: Store | undefined;
}

/** Options that the document contains, or that apply to a single policy only. */
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
