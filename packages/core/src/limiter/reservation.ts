import { isHeld, type Part } from '../call/call.js';
import type { Decision } from '../decision.js';
import { isStoreUnavailableError } from '../errors.js';
import type { Admission } from './admission.js';
import { type Cost, checkCost, costFor } from './call-options.js';
import { DecisionRecord } from './decision-record.js';

/**
 * Permits taken by estimate, for calls whose cost is known only afterwards: tokens of a language model, bytes of an upload.
 * The estimate stays spent unless the reservation is settled or cancelled.
 */
export class Reservation {
  readonly #admission: Admission;
  /** The names in a cost by name. */
  readonly #names: readonly string[];
  #state: 'open' | 'settled' | 'unknown' = 'open';
  /** What the last `settle` was to count. If it has rejected, `cancel` in a `finally` block must not give that back. */
  #used: ((part: Part) => number) | undefined;

  /** @internal */
  constructor(
    /** The decision on the estimate. */
    readonly decision: Decision,
    admission: Admission,
    names: readonly string[],
  ) {
    this.#admission = admission;
    this.#names = names;
  }

  /**
   * Reports the actual cost. Permits reserved in excess come back. Missing permits are taken, even if fewer are left. A `concurrency`
   * policy counts no cost: its held permits are released.
   * @throws TypeError if already settled or cancelled; RangeError for an invalid cost; StoreUnavailableError if the store that decided
   *   is out: with `neverSent` the reservation stays open and can be settled again, otherwise the outcome is unknown
   */
  async settle(actual: Cost): Promise<void> {
    if (this.#state !== 'open') {
      const outcome = this.#state === 'unknown' ? '; the outcome of that call is unknown' : '';
      throw new TypeError(
        `A reservation can be settled once; this one was already settled or cancelled${outcome}`,
      );
    }
    this.#used ??= ({ cost }) => cost; // with a wrong cost: something was used, and it is not known how much
    const costs = checkCost('settle: actual', actual, this.#names);
    this.#used = ({ limit }) => costFor(costs, limit.policy);
    await this.#settle(this.#used);
  }

  /**
   * Gives everything back. Does nothing after `settle` or `cancel`, so a `finally` block may call it. If `settle` has rejected and can be
   * called again, it settles the same cost, or the estimate if the cost was invalid.
   * @throws StoreUnavailableError as `settle` does
   */
  async cancel(): Promise<void> {
    if (this.#state !== 'open') return;
    if (this.#used !== undefined) await this.#settle(this.#used);
    else await this.#once(() => this.#admission.refunds.refund(this.decision, 'cancel'));
  }

  async #settle(used: (part: Part) => number): Promise<void> {
    /** Permits that come back; negative: that are missing. */
    const rest = (part: Part) => part.cost - used(part);
    const { decision } = this;
    const { refunds } = this.#admission;
    await this.#once(() => {
      const spent = DecisionRecord.taken(decision)!.filter((part) => !isHeld(part));
      const more = spent.filter((part) => rest(part) < 0).map((part) => ({ ...part, cost: -rest(part) }));
      const back = (part: Part) => (isHeld(part) ? part.cost : Math.max(0, rest(part)));
      const settle = async () => {
        await refunds.refund(decision, undefined, back);
        if (more.length > 0) await this.#admission.charge(more, decision);
      };
      return refunds.publish('settle', spent, settle, rest);
    });
  }

  async #once(work: () => Promise<void>): Promise<void> {
    this.#state = 'settled';
    try {
      await work();
    } catch (error) {
      this.#state = isStoreUnavailableError(error) && error.neverSent ? 'open' : 'unknown';
      throw error;
    }
  }
}
