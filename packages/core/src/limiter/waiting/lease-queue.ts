import { type Answer, type Decider, EVERYONE, storageKey } from '../../engine/call.js';
import { isStoreUnavailableError } from '../../errors.js';
import { isDegraded } from '../../pipeline/answers.js';
import { undo } from '../../pipeline/fallback.js';
import type { PolicyPart } from '../../pipeline/policy-limit.js';
import { leaseOf } from './leases.js';
import { Listening } from './listening.js';
import { WakeSignal } from './wake-signal.js';

/** Renewals per lease. A waiting call that sends none for a whole lease loses its place. */
const SIGNS_OF_LIFE = 3;
/** First polling interval, µs, while there is no subscription or the store does not answer. It doubles after each poll. */
const FIRST_LOOK = 100_000;

/** How long a waiting call sleeps before it polls. */
class PollIntervals {
  #next = FIRST_LOOK;

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
    this.#next = FIRST_LOOK;
    return this.#third;
  }

  get #third(): number {
    return Math.floor(this.lease / SIGNS_OF_LIFE);
  }
}

/** Waits for permits that other calls hold. A release admits the calls in the queue in order, and the store notifies them. */
export class Line {
  constructor(readonly store: Decider) {}

  /**
   * @param first an answer that may already hold a place in the queue
   * @param left µs until the call times out
   * @returns allowed once the permits are held; denied on timeout
   * @throws StoreUnavailableError if the store is known to be out, or did not answer for a whole lease or until the timeout
   */
  async wait(part: PolicyPart, first: Answer, left: () => number, signal: AbortSignal): Promise<Answer> {
    if (!first.queued) signal.throwIfAborted();
    const answer = first.queued ? first : await this.#join(part, left());
    if (!answer.queued) return answer;
    const { store } = this;
    const place = { ...part, at: answer.parts[0]!.at };
    const wake = new WakeSignal(store.clock, signal);
    const granted = (id: number) => {
      if (id === place.at || id === EVERYONE) wake.look();
    };
    const key = storageKey(part);
    const listening = new Listening(store, key, granted, wake);
    const ignore = store.onOutage?.(key, (error) => wake.fail(error));
    try {
      const held = await this.#stand(place, wake, listening, left);
      // Without a renewal for a whole lease the place was lost: join again at the end of the queue.
      return held ?? (await this.wait(part, { ...first, queued: false }, left, signal));
    } catch (reason) {
      const left = this.#ask('refund', place).catch(() => {}); // if this fails, the place expires with its lease
      if (!isStoreUnavailableError(reason)) await left;
      throw reason;
    } finally {
      ignore?.();
      listening.end();
      wake.end();
    }
  }

  async #stand(
    place: PolicyPart,
    wake: WakeSignal,
    listening: Listening,
    left: () => number,
  ): Promise<Answer | undefined> {
    const { clock } = this.store;
    const polls = new PollIntervals(place.limit.rule.window);
    let heard = clock.now();
    for (let pause = polls.next(); ; ) {
      listening.begin();
      await wake.nap(Math.min(pause, left()));
      const answer = await this.#ask('renew', place).catch((error: unknown) => {
        // The store may come back: the place is kept until its lease ends.
        const mayComeBack = isStoreUnavailableError(error) && error.reason !== 'closed';
        if (!mayComeBack || clock.now() - heard >= polls.lease || left() === 0) throw error;
        return undefined;
      });
      if (answer === undefined) {
        pause = polls.next();
        continue;
      }
      heard = clock.now();
      polls.lease = leaseOf(place, answer.parts[0]!);
      if (answer.allowed) return answer;
      if (!answer.queued) return undefined;
      if (left() === 0) {
        await this.#ask('refund', place);
        return { ...answer, queued: false };
      }
      pause = Math.min(answer.wait, listening.on ? polls.longest() : polls.next());
    }
  }

  async #join(part: PolicyPart, wait: number): Promise<Answer> {
    const answer = await this.store.decide({ operation: 'acquire', wait, parts: [part] });
    if (!isDegraded(answer)) return answer;
    await undo(answer, [part]); // the caller applies the failure policies to the whole call
    throw answer.source.error;
  }

  async #ask(operation: 'renew' | 'refund', part: PolicyPart): Promise<Answer> {
    return this.store.decide({ operation, wait: 0, parts: [part] });
  }
}
