import type { Policy, PolicyDecision } from '@sluice/core';
import { compilePolicy, type PolicyKind, policyKinds, RecentMap } from '@sluice/core/internal';
import type { Budget } from './budget.js';

/** ms for which a stated limit is believed after the last response that stated it. */
const BELIEVED = 900_000;
/** ms after which a process that gets the same figure again writes it again. */
const RENEWED = BELIEVED / 2;
/** Budgets of accounts whose last write this process remembers. */
const MOST = 10_000;
/** A product of doubles may be a little below the whole number that is meant. */
const ABOVE = 1 + 1e-12;

interface Written {
  readonly limit: number;
  /** ms since 1970. */
  readonly at: number;
}

/** Gives an account a smaller limit, for all processes and for a time, where the upstream states a smaller one than we believe. Nothing raises it. */
export class StatedLimits {
  readonly #written = new RecentMap<string, Written>(MOST, () => false);

  constructor(readonly budget: Budget) {}

  /**
   * @param ours the budget when the call took its permits
   * @param stated the size of the budget, by the response
   * @returns by how much the statement is below ours
   * @throws StoreUnavailableError
   */
  async observe(account: string, ours: PolicyDecision, stated: number): Promise<number> {
    const { name } = ours;
    const { now } = this.budget;
    const limit = Math.floor(stated);
    const policy = this.budget.policies[name]!;
    const { limit: configured } = compilePolicy(policy);
    const isSame = limit === ours.limit && limit === configured;
    if (limit < 1 || limit > ours.limit || isSame) return 0;
    const key = `${name} ${account}`;
    const before = this.#written.get(key);
    const isKnown = before?.limit === limit && now - before.at < RENEWED;
    if (!isKnown) await this.#lower(key, account, policy, name, { limit, at: now }, configured);
    return ours.limit - limit;
  }

  async #lower(
    key: string,
    account: string,
    policy: Policy,
    name: string,
    stated: Written,
    configured: number,
  ): Promise<void> {
    this.#written.set(key, stated);
    const limiter = this.budget.limiters[name]!;
    // Another process may have got a smaller figure meanwhile.
    const { limit: believed } = await limiter.peek(account, { cost: 0 });
    if (stated.limit > believed) return;
    const { shareOf } = policyKinds.find((kind) => kind.name === policy.algorithm) as unknown as PolicyKind;
    const smaller = shareOf(policy, (stated.limit / configured) * ABOVE);
    await limiter.override(account, smaller, { expiresIn: BELIEVED });
  }
}
