import type { Decision, Policy, PolicyDecision } from '@sluice/core';
import { RecentMap } from '@sluice/core/internal';
import type { ObservedLimit, Refusal } from '../reading/reading.js';
import type { Budget } from './budget.js';
import type { StatedLimits } from './stated-limits.js';

/** Budgets of accounts that this process remembers. */
const MOST = 10_000;
/** Part of a limit that one refusal takes away, and at least one permit. */
const STEP = 0.02;
/** Steps that refusals of calls with one limit take away: after a stall many calls are refused at once. */
const MOST_STEPS = 3;
/** Calls after which a step comes back if responses do not say how much is left: at most one of them is refused for it. */
const CALLS = 1000;
/** An override ends after at most this long, ms. */
const LONGEST = 30 * 86_400_000;
/** Windows after which the permits that responses have stated as left come back. */
const WINDOWS = 10;

type Limited = Policy & { readonly limit: number };

/** A lower limit that this process wrote. */
interface Lowered {
  readonly limit: number;
  /** When it wrote it first, ms since 1970. */
  readonly since: number;
  /** The least that responses have stated as left since then; undefined: they did not say. */
  left: number | undefined;
}

/**
 * Lowers a limit that others use, too. If the upstream refuses a call of a budget that has permits by our count, a step of the limit goes, for
 * all processes. It comes back with time, but no more of it than responses have stated as left meanwhile. Never above the limit that is known in
 * advance or that responses state.
 */
export class OthersUse {
  readonly #lowered = new RecentMap<string, Lowered>(MOST, () => false);

  constructor(
    readonly budget: Budget,
    readonly stated: StatedLimits,
  ) {}

  /** The upstream has refused a call that had its permits. @throws StoreUnavailableError */
  async refused(
    account: string,
    { policies }: Decision,
    refusal: Refusal,
    observed: readonly ObservedLimit[],
  ): Promise<void> {
    if (refusal.kind !== 'limit') return;
    for (const seen of policies) {
      const policy = this.#limited(seen.name);
      if (policy === undefined) continue;
      const isMeant =
        leftOf(seen, observed) === 0 || (refusal.scope === 'dimension' && refusal.dimension === seen.name);
      if (!isMeant) continue;
      const step = stepOf(policy);
      const least = Math.max(1, seen.limit - MOST_STEPS * step);
      await this.#change(account, policy, seen, (limit) => Math.min(limit, Math.max(least, limit - step)));
    }
  }

  /** Has this process lowered a limit? Otherwise calls that are served change nothing. */
  get hasLowered(): boolean {
    return this.#lowered.size > 0;
  }

  /** The upstream has served a call. @throws StoreUnavailableError */
  async served(account: string, { policies }: Decision, observed: readonly ObservedLimit[]): Promise<void> {
    for (const seen of policies) {
      const policy = this.#limited(seen.name);
      if (policy === undefined || seen.limit >= Math.min(policy.limit, this.stated.of(account, seen.name)))
        continue;
      const key = `${seen.name} ${account}`;
      const lowered = this.#lowered.get(key);
      // An operator's lower limit, or one of another process, is not ours to raise.
      if (lowered?.limit !== seen.limit) continue;
      const { now } = this.budget;
      const left = leftOf(seen, observed);
      if (left !== undefined) lowered.left = Math.min(left, lowered.left ?? left);
      const waits = lowered.left === undefined ? quietOf(policy, seen) : WINDOWS * seen.window;
      if (now - lowered.since < waits) continue;
      // A new time begins, also if nothing was left to give back.
      this.#lowered.set(key, { limit: seen.limit, since: now, left: undefined });
      const back = lowered.left ?? stepOf(policy);
      await this.#change(account, policy, seen, (limit) => (limit === seen.limit ? limit + back : limit));
    }
  }

  /** Policies of a limit that can be lowered. */
  #limited(name: string): Limited | undefined {
    const policy = this.budget.policies[name];
    // A decision of a policy with a burst states the burst as its limit.
    return policy !== undefined &&
      'limit' in policy &&
      !('burst' in policy) &&
      policy.algorithm !== 'concurrency'
      ? (policy as Limited)
      : undefined;
  }

  /** Also renews the lower limit, which otherwise ends by itself. */
  async #change(
    account: string,
    policy: Limited,
    seen: PolicyDecision,
    to: (limit: number) => number,
  ): Promise<void> {
    const key = `${seen.name} ${account}`;
    const limiter = this.budget.limiters[seen.name]!;
    const { limit: known } = await limiter.peek(account, { cost: 0 });
    const limit = Math.min(to(known), this.stated.of(account, seen.name));
    if (limit >= policy.limit) {
      await limiter.removeOverride(account);
      this.#lowered.delete(key);
    } else {
      const expiresIn = Math.min(LONGEST, 2 * Math.max(WINDOWS * seen.window, quietOf(policy, seen)));
      await limiter.override(account, { ...policy, limit } as Policy, { expiresIn });
      if (this.#lowered.get(key)?.limit !== limit)
        this.#lowered.set(key, { limit, since: this.budget.now, left: undefined });
    }
  }
}

const stepOf = ({ limit }: Limited): number => Math.max(1, Math.ceil(limit * STEP));

/** ms in which as many calls pass as should be served for one that is refused. */
const quietOf = ({ limit }: Limited, { window }: PolicyDecision): number =>
  Math.ceil((window * CALLS) / limit);

/** What a response states as left of a budget. One of the same name with a longer window is another. */
const leftOf = (
  { name, window: ours }: PolicyDecision,
  observed: readonly ObservedLimit[],
): number | undefined =>
  observed.find(
    ({ dimension, remaining, window = ours }) =>
      dimension === name && remaining !== undefined && window <= ours,
  )?.remaining;
