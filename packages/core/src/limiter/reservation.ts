import type { Decision } from '../decision.js';
import { isHeld, type KeyCall } from '../engine/call.js';
import { isStoreUnavailableError } from '../errors.js';
import type { PolicyPart } from '../pipeline/policy-limit.js';
import type { Admission } from './admission.js';
import { type Cost, checkCost, costFor, type WaitOptions, waitOptions } from './call-options.js';
import { DecisionRecord } from './decision-record.js';

/**
 * Permits taken by estimate, for calls whose cost is known only afterwards: tokens of a language model, bytes of an upload.
 * Unless settled or cancelled the estimate stays spent.
 */
export class Reservation<Cost = number> {
  readonly #admission: Admission;
  readonly #costOf: (actual: Cost) => (part: PolicyPart) => number;
  #state: 'open' | 'settled' | 'unknown' = 'open';

  /** @internal */
  constructor(
    /** The decision on the estimate. */
    readonly decision: Decision,
    admission: Admission,
    costOf: (actual: Cost) => (part: PolicyPart) => number,
  ) {
    this.#admission = admission;
    this.#costOf = costOf;
  }

  /**
   * Reports the actual cost. Permits reserved in excess come back; missing permits are taken, even if fewer are left. A `concurrency`
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
    const costOf = this.#costOf(actual);
    await this.#once(async () => {
      const more = DecisionRecord.taken(this.decision)!
        .filter((part) => !isHeld(part) && costOf(part) > part.cost)
        .map((part) => ({ ...part, cost: costOf(part) - part.cost }));
      await this.#admission.refund(this.decision, (part) =>
        isHeld(part) ? part.cost : Math.max(0, part.cost - costOf(part)),
      );
      if (more.length > 0) await this.#admission.charge(more, this.decision);
    });
  }

  /**
   * Gives everything back. Does nothing after `settle` or `cancel`, so a `finally` block may call it.
   * @throws StoreUnavailableError as `settle` does
   */
  async cancel(): Promise<void> {
    if (this.#state === 'open') await this.#once(() => this.#admission.refund(this.decision));
  }

  /** After `neverSent` the call may be repeated. After any other error the outcome is unknown. */
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

/** `reserve` of every kind of limiter. `names`: the keys of a cost by name. */
export async function reserve(
  admission: Admission,
  call: KeyCall,
  options: WaitOptions,
  names: readonly string[],
): Promise<Reservation<Cost>> {
  const decision = await admission.reserve(call, waitOptions('reserve', options));
  return new Reservation(decision, admission, (actual: Cost) => {
    const costs = checkCost('settle: actual', actual, names);
    return ({ limit }) => costFor(costs, limit.policy);
  });
}
