import type { Decision, LimiterKey, RateLimiter } from '@sluice/core';
import type { FailedShadow, MatchedRules, RuledCall, RuleReply } from '@sluice/core/http';
import type { Rule, RuleNumbers } from '../compile/rule.js';
import type { ApplyingRule, MatchedRule, RuleSet } from '../rule-set.js';
import type { Combination, Combinations } from './combinations.js';

/** The call of one shadow rule. */
export interface ShadowCall extends RuledCall {
  readonly rule: Rule;
  readonly limiter: RateLimiter;
  readonly keys: LimiterKey;
  readonly cost: number;
}

export interface RefusedShadow extends FailedShadow {
  readonly rule: Rule;
}

const NO_SHADOWS: readonly (ShadowCall | RefusedShadow)[] = [];

/** What a request counts for, before it is counted. Created for each request. */
export class RequestCalls implements MatchedRules {
  /** All enforced rules as one call. */
  readonly enforced: (RuledCall & Combination) | undefined;
  readonly shadows: readonly (ShadowCall | RefusedShadow)[];
  readonly matched: readonly MatchedRule[];

  /** @throws KeyResolutionError if the request lacks the key of an enforced rule, or has no valid cost */
  constructor(
    private readonly set: RuleSet,
    applying: readonly ApplyingRule[],
    private readonly limiterOf: (rule: Rule, numbers: RuleNumbers) => RateLimiter,
    combinations: Combinations,
  ) {
    const matched: MatchedRule[] = [];
    const keys: Record<string, string> = {};
    let costs: Record<string, number> | undefined;
    let shadows = NO_SHADOWS;
    for (const { rule, view, call: known } of applying) {
      if (rule.mode === 'shadow') continue;
      const { key, cost, plan, limits, escalate } = known ?? rule.resolve(view);
      matched.push(known ?? { rule, key, cost, plan, limits, escalate });
      keys[rule.name] = key;
      if (cost !== 1) costs = { ...costs, [rule.name]: cost };
    }
    if (matched.length < applying.length)
      shadows = applying.filter(({ rule }) => rule.mode === 'shadow').map((one) => this.#shadow(one));
    this.matched = matched;
    this.shadows = shadows;
    if (matched.length === 0) return;
    const { limiter, consume } = combinations.get(set.name, matched, () =>
      matched.map((one) => limiterOf(one.rule, one)),
    );
    this.enforced = { limiter, consume, keys, cost: costs };
  }

  /** The rule that denied. */
  deniedBy({ allowed, policy }: Decision): Rule | undefined {
    if (allowed) return undefined;
    const [name] = policy.split('.'); // no name of a rule has a dot
    return this.matched.find(({ rule }) => rule.name === name)?.rule;
  }

  replyTo(decision: Decision): RuleReply | undefined {
    return this.deniedBy(decision)?.reply;
  }

  /** What goes wrong in a shadow does not concern the request. */
  #shadow({ rule, view, call }: ApplyingRule): ShadowCall | RefusedShadow {
    try {
      const { key, cost, plan, limits, escalate } = call ?? rule.resolve(view);
      return { rule, limiter: this.limiterOf(rule, { plan, limits, escalate }), keys: key, cost };
    } catch (error) {
      return { rule, name: `${this.set.name}.${rule.name}`, error };
    }
  }
}
