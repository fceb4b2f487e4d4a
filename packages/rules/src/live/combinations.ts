import { CombinedLimiter, type RateLimiter } from '@sluice/core';
import { BaseLimiter, RecentMap } from '@sluice/core/internal';
import type { MatchedRule } from '../rule-set.js';

/** The most combinations that are kept: one for each set of rules that match together, and each of their plans. */
const MOST = 1000;

/** The name of a rule in a decision. */
export const memberOf = ({ member, rule }: Pick<MatchedRule, 'member' | 'rule'>): string =>
  member ?? rule.name;

export interface Combination {
  readonly limiter: CombinedLimiter;
  readonly consume: ReturnType<typeof BaseLimiter.consumer<Readonly<Record<string, string>>>>;
}

/** The `CombinedLimiter` of each set of rules that were decided together. */
export class Combinations {
  readonly #kept = new RecentMap<string, Combination>(MOST, () => false);

  /** @param limiters the limiters of the rules */
  get(name: string, matched: readonly MatchedRule[], limiters: () => readonly RateLimiter[]): Combination {
    // Runs for each request, so it creates no array. Names contain neither a slash nor a space.
    let id = '';
    for (const one of matched) {
      const name = memberOf(one);
      id += one.plan === undefined ? `${name} ` : `${name}/${one.plan} `;
    }
    let found = this.#kept.get(id);
    if (found === undefined) {
      const members = limiters();
      const limiter = new CombinedLimiter(
        Object.fromEntries(matched.map((one, i) => [memberOf(one), members[i]!])),
        { name },
      );
      found = { limiter, consume: BaseLimiter.consumer(limiter) };
      this.#kept.set(id, found);
    }
    return found;
  }

  /** Does a call wait, or hold a permit? */
  get busy(): boolean {
    return this.#kept.values().some(({ limiter }) => BaseLimiter.isBusy(limiter));
  }

  async close(): Promise<void> {
    await Promise.all(this.#kept.values().map(({ limiter }) => limiter.close()));
  }
}
