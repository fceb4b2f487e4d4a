import type { PolicyDecision } from '@sluice/core';
import { compilePolicy, type PolicyKind, policyKinds, RecentMap } from '@sluice/core/internal';
import type { Budget } from './budget.js';

/** ms for which a stated limit is believed after the last response that stated it. */
const BELIEVED = 900_000;
/** ms after which a process that still gets the same figure writes it again. */
const RENEWED = BELIEVED / 2;
/** Budgets of accounts that this process remembers. */
const MOST = 10_000;
/** A product of doubles may be a little below the whole number that is meant. */
const ABOVE = 1 + 1e-12;

/** A limit below ours that responses state. */
interface Stated {
  readonly limit: number;
  /** When a response stated it last, ms since 1970. */
  at: number;
  /** When this process wrote it last. */
  writtenAt: number;
}

/** Gives an account a smaller limit, for all processes and for a time, where the upstream states a smaller one than we believe. Nothing raises it. */
export class StatedLimits {
  readonly #stated = new RecentMap<string, Stated>(MOST, () => false);

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
    const { limit: configured } = compilePolicy(this.budget.policies[name]!);
    if (limit < 1 || limit >= configured) return 0;
    const key = `${name} ${account}`;
    let known = this.#stated.get(key);
    if (known?.limit !== limit) {
      known = { limit, at: now, writtenAt: Number.NEGATIVE_INFINITY };
      this.#stated.set(key, known);
    }
    known.at = now;
    if (limit > ours.limit) return 0;
    if (now - known.writtenAt >= RENEWED) {
      known.writtenAt = now;
      await this.#lower(account, name, limit, configured);
    }
    return ours.limit - limit;
  }

  /** The limit that responses state for a budget of an account; infinite if they state none below ours. */
  of(account: string, name: string): number {
    const known = this.#stated.get(`${name} ${account}`);
    return known === undefined || this.budget.now - known.at > BELIEVED
      ? Number.POSITIVE_INFINITY
      : known.limit;
  }

  async #lower(account: string, name: string, stated: number, configured: number): Promise<void> {
    const policy = this.budget.policies[name]!;
    const limiter = this.budget.limiters[name]!;
    // Another process may have got a smaller figure meanwhile.
    const { limit: believed } = await limiter.peek(account, { cost: 0 });
    if (stated > believed) return;
    const { shareOf } = policyKinds.find((kind) => kind.name === policy.algorithm) as unknown as PolicyKind;
    const smaller = shareOf(policy, (stated / configured) * ABOVE);
    await limiter.override(account, smaller, { expiresIn: BELIEVED });
  }
}
