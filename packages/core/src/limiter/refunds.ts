import { ANY } from '../algorithms/algorithm.js';
import { type Decider, isHeld, type Part } from '../call/call.js';
import type { Decision } from '../decision.js';
import { isStoreUnavailableError } from '../errors.js';
import { describe } from '../options.js';
import { REFUND } from '../telemetry/channels.js';
import type { RefundMessage } from '../telemetry/messages.js';
import { DecisionRecord, decisionOf } from './decision-record.js';
import type { HeldPermits } from './waiting/held-permits.js';

/** Gives permits of a limiter back, and publishes a message for each part. */
export class Refunds {
  constructor(
    private readonly limiter: string,
    private readonly held: HeldPermits,
  ) {}

  /**
   * Gives back everything a decision took, or the cost that `backOf` returns for each part. A second refund of the same permits does
   * nothing, even if the store did not answer the first: the store may have applied it. A call that was never sent may be repeated.
   * @param shown the decision, or a view of it
   * @param reason for subscribers; undefined if the caller publishes its own messages
   */
  async refund(
    shown: Decision,
    reason: RefundMessage['reason'] | undefined,
    backOf: (part: Part) => number = ({ cost }) => cost,
  ): Promise<void> {
    const decision = decisionOf(shown);
    const taken = DecisionRecord.taken(decision);
    if (taken === undefined || decision.name !== this.limiter) {
      throw new TypeError(`refund takes a decision of limiter '${this.limiter}', not ${describe(decision)}`);
    }
    const given: Part[] = [];
    const kept: Part[] = [];
    for (const part of taken) {
      const back = backOf(part);
      if (back > 0) given.push(back === part.cost ? part : { ...part, cost: back });
      if (part.cost > back) kept.push(back === 0 ? part : { ...part, cost: part.cost - back });
    }
    DecisionRecord.keep(decision, kept);
    const giveBack = () => this.held.giveBack(DecisionRecord.decider(decision), given);
    try {
      await (reason === undefined ? giveBack() : this.publish(reason, given, giveBack));
    } catch (error) {
      if (isStoreUnavailableError(error) && error.neverSent) DecisionRecord.keep(decision, taken);
      throw error;
    }
  }

  /** Returns held permits only. */
  release(decision: Decision): Promise<void> {
    return this.refund(decision, 'release', (part) => (isHeld(part) ? part.cost : 0));
  }

  /** Returns the permits taken last. */
  async reward(decider: Decider, parts: readonly Part[]): Promise<void> {
    const latest = parts.map(({ limit, key, cost }) => ({ limit, key, cost, at: ANY }));
    await this.publish('reward', latest, () => this.held.giveBack(decider, latest));
  }

  /**
   * Returns permits, and publishes it.
   * @param parts with the permits that they return, or for `settle` with the estimates
   * @param permitsOf the permits that a part returns; negative: takes
   */
  async publish(
    reason: RefundMessage['reason'],
    parts: readonly Part[],
    giveBack: () => Promise<void>,
    permitsOf: (part: Part) => number = ({ cost }) => cost,
  ): Promise<void> {
    if (!REFUND.hasSubscribers) return giveBack();
    let error: unknown;
    try {
      await giveBack();
    } catch (thrown) {
      error = thrown;
      throw thrown;
    } finally {
      for (const part of parts) {
        const { limit, key, cost } = part;
        const estimate = reason === 'settle' ? cost : undefined;
        const permits = permitsOf(part);
        REFUND.publish({ limiter: this.limiter, policy: limit.name, key, reason, permits, estimate, error });
      }
    }
  }
}
