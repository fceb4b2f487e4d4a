import type { RateLimiter } from '@sluice/core';
import { LimiterPool, setKeyKind } from '@sluice/core/http';
import type { Rule, RuleNumbers } from '../compile/rule.js';
import type { RuleSet } from '../rule-set.js';
import { Retired } from './retired.js';
import type { RulesOptions } from './rules-options.js';

/** Different numbers of one limiter that are kept: plans, and versions before. */
const MOST = 1000;

/** The limiters of all rules of a store. Those of one name share their counts, whatever their numbers. */
export class LimiterBank {
  readonly #pools = new Map<string, LimiterPool>();
  readonly #retired = new Retired();

  constructor(readonly options: RulesOptions) {}

  get(set: RuleSet, rule: Rule, { limits, escalate }: RuleNumbers): RateLimiter {
    const id = idOf(set, rule, escalate);
    let pool = this.#pools.get(id);
    if (pool === undefined) {
      const { hashTag } = set.document;
      const { notify } = rule;
      const name = nameOf(set, rule);
      const kind = takesPlans(rule) ? 'per-request' : 'limiter';
      pool = new LimiterPool({ ...this.options, name, hashTag, escalate, notify }, MOST, kind);
      this.#pools.set(id, pool);
    } else this.#retired.delete(pool);
    const limiter = pool.byPolicies(limits);
    setKeyKind(limiter, rule.keyKind);
    return limiter;
  }

  /** Closes the limiters of all other rules when no request uses them any more. */
  keep(rules: readonly (readonly [RuleSet, Rule])[]): void {
    const kept = new Set(
      rules.flatMap(([set, rule]) =>
        [...rule.numbers.values()].map(({ escalate }) => idOf(set, rule, escalate)),
      ),
    );
    for (const [id, pool] of this.#pools)
      if (!kept.has(id)) this.#retired.add(pool, () => this.#pools.delete(id));
  }

  async close(): Promise<void> {
    await this.#retired.close();
    await Promise.all([...this.#pools.values()].map((pool) => pool.close()));
  }
}

const nameOf = ({ name }: RuleSet, rule: Rule): string => `${name}.${rule.name}`;
const takesPlans = ({ numbers }: Rule): boolean => !numbers.has(undefined);
/** Limiters of one id differ in their policies and their key only. */
const idOf = (set: RuleSet, rule: Rule, escalate: RuleNumbers['escalate']): string =>
  JSON.stringify([nameOf(set, rule), set.document.hashTag, escalate, rule.notify, takesPlans(rule)]);
