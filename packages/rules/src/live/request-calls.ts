import type { Decision, Duration, LimiterKey, RateLimiter } from '@sluice/core';
import { BaseLimiter, toMicros } from '@sluice/core/internal';
import type { FailedShadow, MatchedRules, RuledCall, RuleReply } from '@sluice/http';
import type { Rule, RuleNumbers } from '../compile/rule.js';
import type { ApplyingRule, MatchedRule, RuleSet } from '../rule-set.js';
import { type Combination, type Combinations, memberOf } from './combinations.js';

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

/** The keys, costs and plans of a request before it is counted. Created for each request. */
export class RequestCalls implements MatchedRules {
  /** All enforced rules as one call. */
  readonly enforced: (RuledCall & Combination) | undefined;
  readonly shadows: readonly (ShadowCall | RefusedShadow)[];
  readonly matched: readonly MatchedRule[];
  /** The shortest timeout of the rules. */
  readonly timeout: Duration | undefined;

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
    let timeout: Duration | undefined;
    let refunds = false;
    for (const { rule, view, call: known } of applying) {
      if (rule.mode === 'shadow') continue;
      const { key, cost, plan, limits, escalate } = known ?? rule.resolve(view);
      const name = known === undefined ? rule.name : memberOf(known);
      matched.push(known ?? { rule, key, cost, plan, limits, escalate });
      keys[name] = key;
      refunds ||= rule.refunds;
      if (rule.timeout !== undefined) timeout = shorter(rule.timeout, timeout);
      if (cost !== 1) costs = { ...costs, [name]: cost };
    }
    if (matched.length < applying.length)
      shadows = applying.filter(({ rule }) => rule.mode === 'shadow').map((one) => this.#shadow(one));
    this.timeout = timeout;
    this.matched = matched;
    this.shadows = shadows;
    if (matched.length === 0) return;
    const { limiter, consume } = combinations.get(set.name, matched, () =>
      matched.map((one) => limiterOf(one.rule, one)),
    );
    const refund = refunds
      ? (decision: Decision, successful: boolean) => this.#refund(decision, successful)
      : undefined;
    this.enforced = { limiter, consume, keys, cost: costs, refund };
  }

  /** The rule that denied. */
  deniedBy({ allowed, policy }: Decision): Rule | undefined {
    if (allowed) return undefined;
    const [name] = policy.split('.'); // names of rules have no dot
    return this.matched.find((one) => memberOf(one) === name)?.rule;
  }

  replyTo(decision: Decision): RuleReply | undefined {
    return this.deniedBy(decision)?.reply;
  }

  #refund(decision: Decision, successful: boolean): Promise<void> {
    const members = this.matched.filter(({ rule }) => rule.skips(successful)).map(memberOf);
    return BaseLimiter.refundMembers(this.enforced!.limiter, decision, members);
  }

  /** An error of a shadow rule must not affect the request. */
  #shadow({ rule, view, call }: ApplyingRule): ShadowCall | RefusedShadow {
    try {
      const { key, cost, plan, limits, escalate } = call ?? rule.resolve(view);
      const limiter = this.limiterOf(rule, { plan, limits, escalate });
      const refund = (decision: Decision, successful: boolean) =>
        rule.skips(successful) ? limiter.refund(decision) : limiter.release(decision);
      return { rule, limiter, keys: key, cost, refund: rule.refunds ? refund : undefined };
    } catch (error) {
      return { rule, name: `${this.set.name}.${rule.name}`, error };
    }
  }
}

const shorter = (one: Duration, other: Duration | undefined): Duration =>
  other === undefined || toMicros('timeout', one, 0) < toMicros('timeout', other, 0) ? one : other;
