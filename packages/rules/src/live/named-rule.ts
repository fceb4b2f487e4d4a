import type { RateLimiter } from '@sluice/core';
import type { KeyScope } from '@sluice/core/internal';
import type { NamedRule } from '@sluice/http';
import type { Rule } from '../compile/rule.js';
import type { RuleSet } from '../rule-set.js';

type LimiterOf = (set: RuleSet, rule: Rule, plan: string | undefined) => RateLimiter;

/** A rule as code uses it: without a request. */
export function namedRule(set: RuleSet, rule: Rule, limiterOf: LimiterOf): NamedRule {
  return {
    name: `${set.name}.${rule.name}`,
    key: rule.key,
    ipv6Subnet: rule.ipv6Subnet,
    mode: rule.mode,
    timeout: rule.timeout,
    shadows: set.rules
      .filter(({ compare }) => compare === rule.name)
      .map((shadow) => namedRule(set, shadow, limiterOf)),
    limiter: (scope: KeyScope) => limiterOf(set, rule, rule.planOf(scope)),
    cost: (scope: KeyScope) => rule.cost.of(scope),
    ofPlan: (plan) => ({
      limiter: limiterOf(set, rule, plan),
      cost: rule.cost.fixed(rule.numbersOf(plan).plan),
    }),
  };
}
