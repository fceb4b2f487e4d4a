import type { Decision } from '@sluice/core';
import type { Rule } from '../compile/rule.js';
import type { MatchedRule } from '../rule-set.js';
import type { RequestCalls } from './request-calls.js';
import type { ShadowDecision } from './shadow-decision.js';

/** The decision of the rules on a request. */
export interface RulesDecision {
  /** True also if no rule applies. */
  readonly allowed: boolean;
  /** The decision of all enforced rules together; undefined if none applies. Its policies are named `rule.limit`, or `rule` with a single `limit`. */
  readonly decision: Decision | undefined;
  /** The enforced rules that were decided. */
  readonly matched: readonly MatchedRule[];
  /** The rule that denied. */
  readonly deniedBy: Rule | undefined;
  readonly shadows: readonly ShadowDecision[];
}

export const NOTHING: RulesDecision = {
  allowed: true,
  decision: undefined,
  matched: [],
  deniedBy: undefined,
  shadows: [],
};

export function outcome(
  calls: RequestCalls,
  decision: Decision | undefined,
  shadows: readonly ShadowDecision[],
): RulesDecision {
  const deniedBy = decision && calls.deniedBy(decision);
  return { allowed: decision?.allowed !== false, decision, matched: calls.matched, deniedBy, shadows };
}
