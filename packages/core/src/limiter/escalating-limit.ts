import type { Rule } from '../algorithms/algorithm.js';
import type { Escalation } from '../engine/escalation.js';
import type { PolicyLimit } from '../pipeline/policy-limit.js';

/**
 * The limit with an escalation, also while its store is out. A call that is not enforced keeps the rules without one.
 * @param rule,local rules of the limit, made for this
 */
export function escalating(plain: PolicyLimit, rule: Rule, local: Rule, escalation: Escalation): PolicyLimit {
  const { choose, limit } = plain.fallback!;
  return {
    ...plain,
    rule: Object.assign(rule, { escalation }),
    fallback: { choose, limit: { ...limit, rule: Object.assign(local, { escalation }) } },
    shadow: { rule: plain.rule, fallback: plain.fallback },
  };
}
