import type { RateLimiter } from '@sluice/core';
import { type CallCost, LimiterPool } from '@sluice/core/internal';
import { setKeyKind } from '@sluice/http';
import type { Rule, RuleNumbers } from '../compile/rule.js';
import type { RuleSet } from '../rule-set.js';
import { Retired } from './retired.js';
import type { RulesOptions } from './rules-options.js';

/** The most pools of numbers that are kept for one limiter: plans and earlier versions. */
const MOST = 1000;
/** The most plans that are published to other processes. */
const MOST_PLANS = 20;

/** The limiters of all rules of a store. Limiters of one name share their counts, also with different numbers. */
export class LimiterBank {
  readonly #pools = new Map<string, LimiterPool>();
  /** The rule that used a pool last, by the pool's id: a later version can have other numbers. */
  readonly #rules = new Map<string, Rule>();
  readonly #retired = new Retired();

  constructor(readonly options: RulesOptions) {}

  get(set: RuleSet, rule: Rule, { plan, limits, escalate }: RuleNumbers): RateLimiter {
    const id = idOf(set, rule, escalate);
    this.#rules.set(id, rule);
    let pool = this.#pools.get(id);
    if (pool === undefined) {
      const { hashTag } = set.document;
      const { notify, failurePolicy = this.options.failurePolicy } = rule;
      const name = nameOf(set, rule);
      const kind = takesPlans(rule) ? 'per-request' : 'limiter';
      const plans = () => plansOf(this.#rules.get(id)!);
      const base = { ...this.options, failurePolicy, name, hashTag, escalate, notify };
      pool = new LimiterPool(base, MOST, kind, plans);
      this.#pools.set(id, pool);
    } else this.#retired.delete(pool);
    const limiter = pool.byPolicies(limits);
    setKeyKind(limiter, rule.keyKind, callCost(rule, plan));
    return limiter;
  }

  /** Closes the limiters of all other rules once no request uses them. Other processes know only those of these rules. */
  keep(rules: readonly (readonly [RuleSet, Rule])[]): void {
    const kept = new Set(
      rules.flatMap(([set, rule]) =>
        [...rule.numbers.values()].map(({ escalate }) => idOf(set, rule, escalate)),
      ),
    );
    const pools = [...this.#pools];
    for (const [id, pool] of pools) {
      if (kept.has(id)) continue;
      pool.announce(false);
      this.#retired.add(pool, () => {
        this.#pools.delete(id);
        this.#rules.delete(id);
      });
    }
    for (const [id, pool] of pools) if (kept.has(id)) pool.announce(true);
  }

  async close(): Promise<void> {
    await this.#retired.close();
    await Promise.all([...this.#pools.values()].map((pool) => pool.close()));
  }
}

const nameOf = ({ name }: RuleSet, rule: Rule): string => `${name}.${rule.name}`;
const takesPlans = ({ numbers }: Rule): boolean => !numbers.has(undefined);

/** The numbers of a rule for each plan, the default one first; undefined if it does not depend on plans. */
function plansOf(rule: Rule) {
  if (!takesPlans(rule)) return undefined;
  const all = [rule.numbersOf(), ...rule.numbers.values()];
  return new Map(
    [...new Map(all.map((one) => [one.plan!, { ...one, cost: callCost(rule, one.plan) }]))].slice(
      0,
      MOST_PLANS,
    ),
  );
}

/** The cost as processes publish it: 1 is omitted. */
function callCost(rule: Rule, plan: string | undefined): CallCost | undefined {
  const cost = rule.cost.fixed(plan) ?? 'varies';
  return cost === 1 ? undefined : cost;
}

/** Limiters of one id differ in their policies and their key only. */
const idOf = (set: RuleSet, rule: Rule, escalate: RuleNumbers['escalate']): string =>
  JSON.stringify([
    ...[nameOf(set, rule), set.document.hashTag, escalate],
    ...[rule.notify, takesPlans(rule), rule.failurePolicy],
  ]);
