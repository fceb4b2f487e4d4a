import type { Decision, LimiterKey, RateLimiter } from '@sluice/core';
import type { FailedShadow, MatchedRules, RuledCall, RuleReply } from '@sluice/core/http';
import type { Rule } from '../compile/rule.js';
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

/** What a request counts for, before it is counted. */
export class RequestCalls implements MatchedRules {
  /** All enforced rules as one call. */
  readonly enforced: (RuledCall & Combination) | undefined;
  readonly shadows: readonly (ShadowCall | RefusedShadow)[];
  readonly matched: readonly MatchedRule[];

  /** @throws KeyResolutionError if the request lacks the key of an enforced rule, or has no valid cost */
  constructor(
    private readonly set: RuleSet,
    applying: readonly ApplyingRule[],
    private readonly limiterOf: (rule: Rule, limits: MatchedRule['limits']) => RateLimiter,
    combinations: Combinations,
  ) {
    const of = (mode: Rule['mode']) => applying.filter(({ rule }) => rule.mode === mode);
    const matched = of('enforce').map(({ rule, view }) => ({ rule, ...rule.resolve(view) }));
    this.matched = matched;
    this.shadows = of('shadow').map((one) => this.#shadow(one));
    if (matched.length === 0) return;
    const combination = combinations.get(set.name, matched, () =>
      matched.map(({ rule, limits }) => limiterOf(rule, limits)),
    );
    const keys = Object.fromEntries(matched.map(({ rule, key }) => [rule.name, key]));
    const cost = matched.some(({ cost }) => cost !== 1)
      ? Object.fromEntries(matched.map(({ rule, cost }) => [rule.name, cost]))
      : undefined;
    this.enforced = { ...combination, keys, cost };
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
  #shadow({ rule, view }: ApplyingRule): ShadowCall | RefusedShadow {
    try {
      const { key, cost, limits } = rule.resolve(view);
      return { rule, limiter: this.limiterOf(rule, limits), keys: key, cost };
    } catch (error) {
      return { rule, name: `${this.set.name}.${rule.name}`, error };
    }
  }
}
