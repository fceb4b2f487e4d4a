import type { Decision } from '@sluice/core';
import { RecentMap } from '@sluice/core/internal';
import type { ObservedLimit } from '../reading/reading.js';
import { type Budget, LONGEST } from './budget.js';
import { OthersUse } from './others-use.js';
import { StatedLimits } from './stated-limits.js';

/** Budgets of accounts that this process remembers. */
const MOST = 10_000;

/** Permits of one budget of an account, since this process knows it. */
interface Tally {
  /** Taken by calls of this process. */
  taken: number;
  /** Taken because the upstream had less left. */
  lowered: number;
}

/** The tallies when a call took its permits, by the names of its policies. */
export type Snapshot = readonly (Readonly<Tally> & { readonly name: string })[];

/**
 * Lowers our figures of a budget, its rest and its size, to those that responses state: others use the account, too. No response raises them.
 */
export class Beliefs {
  readonly #tallies = new RecentMap<string, Tally>(MOST, () => false);

  readonly #stated: StatedLimits;
  readonly othersUse: OthersUse;

  constructor(readonly budget: Budget) {
    this.#stated = new StatedLimits(budget);
    this.othersUse = new OthersUse(budget, this.#stated);
  }

  #tally(name: string, account: string): Tally {
    const key = `${name} ${account}`;
    let tally = this.#tallies.get(key);
    if (tally === undefined) {
      tally = { taken: 0, lowered: 0 };
      this.#tallies.set(key, tally);
    }
    return tally;
  }

  /** A call has taken its permits. */
  took(account: string, { policies }: Decision): Snapshot {
    const snapshot: Snapshot[number][] = [];
    for (const { name, cost, held } of policies) {
      if (held) continue;
      const tally = this.#tally(name, account);
      tally.taken += cost;
      snapshot.push({ name, taken: tally.taken, lowered: tally.lowered });
    }
    return snapshot;
  }

  /** A call was not sent: its permits came back. */
  gaveBack(account: string, { policies }: Decision): void {
    for (const { name, cost, held } of policies) if (!held) this.#tally(name, account).taken -= cost;
  }

  /**
   * A response states the rest of a budget, and perhaps its size. Permits that calls of this process took after its own, and lowered ones since, are in our figure already.
   * @throws StoreUnavailableError
   */
  async observe(
    account: string,
    { policies }: Decision,
    snapshot: Snapshot,
    observed: readonly ObservedLimit[],
  ): Promise<void> {
    for (const { dimension, limit, remaining, rounding = 0, window } of observed) {
      const ours = policies.find(({ name }) => name === dimension);
      const then = snapshot.find(({ name }) => name === dimension);
      if (ours === undefined || then === undefined) continue;
      // What passes in a longer window also bounds ours; a shorter one, such as a burst, does not.
      const isBound = limit !== undefined && (window === undefined || window + LONGEST >= ours.window);
      const smaller = isBound ? await this.#stated.observe(account, ours, limit) : 0;
      if (remaining === undefined) continue;
      if (window !== undefined && window > ours.window) continue; // another, longer budget
      const tally = this.#tally(dimension, account);
      const later = tally.taken - then.taken + (tally.lowered - then.lowered);
      const before = Math.floor(ours.remaining - smaller - remaining - rounding - later);
      if (before <= 0) continue;
      // Calls of other processes may have arrived earlier than this one that took their permits later: they count now.
      const limiter = this.budget.limiters[dimension]!;
      const now = await limiter.peek(account, { cost: 0 });
      const missing = Math.min(before, Math.floor(now.remaining - remaining - rounding));
      if (missing <= 0) continue;
      tally.lowered += missing;
      await limiter.penalty(account, missing);
    }
  }
}
