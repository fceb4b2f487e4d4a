import type { LimiterPolicies, RateLimiter } from '@sluice/core';
import { LimiterPool } from '@sluice/core/http';
import type { RulesOptions } from './rules-options.js';

/** Different numbers of one limiter that are kept: plans, and versions before. */
const MOST = 1000;

/** The limiters of all rules of a store. Those of one name share their counts, whatever their numbers. */
export class LimiterBank {
  readonly #pools = new Map<string, LimiterPool>();

  constructor(readonly options: RulesOptions) {}

  get(name: string, hashTag: string | undefined, policies: LimiterPolicies): RateLimiter {
    const id = `${name} ${hashTag ?? ''}`;
    let pool = this.#pools.get(id);
    if (pool === undefined) {
      pool = new LimiterPool({ ...this.options, name, hashTag }, MOST);
      this.#pools.set(id, pool);
    }
    return pool.byPolicies(policies);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#pools.values()].map((pool) => pool.close()));
  }
}
