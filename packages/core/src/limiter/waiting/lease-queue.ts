import { type Answer, type Decider, storageKey } from '../../engine/call.js';
import { isStoreUnavailableError } from '../../errors.js';
import { isDegraded, undo } from '../../pipeline/answers.js';
import type { PolicyPart } from '../../pipeline/policy-limit.js';
import { leaseOf } from './leases.js';
import { WakeSignal } from './wake-signal.js';

/** Renewals per lease. A waiting call that sends none for a whole lease loses its place. */
const RENEWALS = 3;
/** First polling interval, µs, while there is no subscription or the store does not answer. It doubles after each poll. */
const FIRST_POLL = 100_000;

/** How long a waiting call sleeps before it polls. */
class PollIntervals {
  #next = FIRST_POLL;

  /** @param lease µs without a renewal after which the place is lost */
  constructor(public lease: number) {}

  /** Without a subscription: only polling finds out. */
  next(): number {
    const pause = Math.min(this.#next, this.#third);
    this.#next *= 2;
    return pause;
  }

  /** With a subscription: polling only keeps the lease. */
  longest(): number {
    this.#next = FIRST_POLL;
    return this.#third;
  }

  get #third(): number {
    return Math.floor(this.lease / RENEWALS);
  }
}

/** Waits for permits that other calls hold. A release admits the calls in the queue in order, and the store notifies them. */
export class LeaseQueue {
  constructor(readonly store: Decider) {}

  /**
   * @param first an answer that may already hold a place in the queue
   * @param left µs until the call times out
   * @returns allowed once the permits are held; denied on timeout
   * @throws StoreUnavailableError if the store is known to be out, or did not answer for a whole lease or until the timeout
   */
  async wait(part: PolicyPart, first: Answer, left: () => number, signal: AbortSignal): Promise<Answer> {
    if (!first.queued) signal.throwIfAborted();
    const answer = first.queued ? first : await this.#enqueue(part, left());
    if (!answer.queued) return answer;
    const place = { ...part, at: answer.parts[0]!.at };
    const wake = new WakeSignal(this.store, storageKey(part), place.at, signal);
    try {
      const settled = await this.#poll(place, wake, left);
      // Without a renewal for a whole lease the place was lost: join again at the end of the queue.
      return settled ?? (await this.wait(part, { ...first, queued: false }, left, signal));
    } catch (reason) {
      const refunded = this.#decide('refund', place).catch(() => {}); // if this fails, the place expires with its lease
      if (!isStoreUnavailableError(reason)) await refunded;
      throw reason;
    } finally {
      wake.end();
    }
  }

  /** @returns undefined if the store no longer knows the place */
  async #poll(place: PolicyPart, wake: WakeSignal, left: () => number): Promise<Answer | undefined> {
    const { clock } = this.store;
    const polls = new PollIntervals(place.limit.rule.window);
    let answeredAt = clock.now();
    for (let pause = polls.next(); ; ) {
      wake.subscribe();
      await wake.sleep(Math.min(pause, left()));
      const answer = await this.#decide('renew', place).catch((error: unknown) => {
        // The store may come back: the place is kept until its lease ends.
        const mayComeBack = isStoreUnavailableError(error) && error.reason !== 'closed';
        if (!mayComeBack || clock.now() - answeredAt >= polls.lease || left() === 0) throw error;
        return undefined;
      });
      if (answer === undefined) {
        pause = polls.next();
        continue;
      }
      answeredAt = clock.now();
      polls.lease = leaseOf(place, answer.parts[0]!);
      if (answer.allowed) return answer;
      if (!answer.queued) return undefined;
      if (left() === 0) {
        await this.#decide('refund', place);
        return { ...answer, queued: false };
      }
      pause = Math.min(answer.wait, wake.subscribed ? polls.longest() : polls.next());
    }
  }

  async #enqueue(part: PolicyPart, wait: number): Promise<Answer> {
    const answer = await this.store.decide({ operation: 'acquire', wait, parts: [part] });
    if (!isDegraded(answer)) return answer;
    await undo(answer, [part]); // the caller applies the failure policies to the whole call
    throw answer.source.error;
  }

  async #decide(operation: 'renew' | 'refund', part: PolicyPart): Promise<Answer> {
    return this.store.decide({ operation, wait: 0, parts: [part] });
  }
}
