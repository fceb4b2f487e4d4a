import { isDegraded } from '../../call/answers.js';
import { type Answer, type Decider, EVERYONE, type Part, storageKey } from '../../call/call.js';
import { isOutage } from '../../store-refusal.js';
import { leaseOf } from './leases.js';
import { onAbort } from './stop.js';

/** Renewals per lease. A waiting call that sends none for a whole lease loses its place. */
const RENEWALS = 3;
/** First polling interval, µs, while there is no subscription or the store does not answer. It doubles after each poll. */
const FIRST_POLL = 100_000;

/** Waits for permits that other calls hold. A release admits the calls in the queue in order, and the store notifies them. */
export class LeaseQueue {
  constructor(readonly store: Decider) {}

  /**
   * @param first an answer that may already hold a place in the queue
   * @param left µs until the call times out
   * @returns allowed once the permits are held; denied on timeout
   * @throws StoreUnavailableError if the store is known to be out, or did not answer for a whole lease or until the timeout
   */
  async wait(part: Part, first: Answer, left: () => number, signal: AbortSignal): Promise<Answer> {
    if (!first.queued) signal.throwIfAborted();
    const answer = first.queued ? first : await this.acquire([part], left());
    if (!answer.queued) return answer;
    const place = { ...part, at: answer.parts[0]!.at };
    const wake = new WakeSignal(this.store, storageKey(part), place.at, signal);
    try {
      const settled = await this.#poll(place, wake, left);
      // Without a renewal for a whole lease the place was lost: join again at the end of the queue.
      return settled ?? (await this.wait(part, { ...first, queued: false }, left, signal));
    } catch (reason) {
      const refunded = this.#send('refund', place).catch(() => {}); // if this fails, the place expires with its lease
      if (!isOutage(reason)) await refunded;
      throw reason;
    } finally {
      wake.end();
    }
  }

  /** @returns undefined if the store no longer knows the place */
  async #poll(place: Part, wake: WakeSignal, left: () => number): Promise<Answer | undefined> {
    const { clock } = this.store;
    let lease = place.limit.rule.window;
    let interval = FIRST_POLL;
    /** With a subscription, a poll only keeps the lease. Without one, only a poll learns of a release. */
    const nextPause = (subscribed: boolean): number => {
      const longest = Math.floor(lease / RENEWALS);
      const pause = subscribed ? longest : Math.min(interval, longest);
      interval = subscribed ? FIRST_POLL : interval * 2;
      return pause;
    };
    let answeredAt = clock.now();
    for (let pause = nextPause(false); ; ) {
      wake.subscribe();
      await wake.sleep(Math.min(pause, left()));
      const answer = await this.#send('renew', place).catch((error: unknown) => {
        // The store may come back: the place is kept until its lease ends.
        const mayComeBack = isOutage(error) && error.reason !== 'closed';
        if (!mayComeBack || clock.now() - answeredAt >= lease || left() === 0) throw error;
      });
      if (answer === undefined) {
        pause = nextPause(false);
        continue;
      }
      answeredAt = clock.now();
      lease = leaseOf(place, answer.parts[0]!);
      if (answer.allowed) return answer;
      if (!answer.queued) return undefined;
      if (left() === 0) {
        await this.#send('refund', place);
        return { ...answer, wait: answer.parts[0]!.wait, queued: false };
      }
      pause = Math.min(answer.wait, nextPause(wake.subscribed));
    }
  }

  /**
   * Gives back what a fallback took: the whole call uses one store, and the caller applies the failure policies to all of it.
   * @throws the error of a store that is out
   */
  async acquire(parts: readonly Part[], wait: number): Promise<Answer> {
    const answer = await this.store.decide({ operation: 'acquire', wait, parts });
    if (!isDegraded(answer)) return answer;
    const { source, allowed, queued } = answer;
    const taken = parts.map((part, i) => ({ ...part, at: answer.parts[i]!.at }));
    if (allowed || queued) await source.decider.decide({ operation: 'refund', wait: 0, parts: taken });
    throw source.error;
  }

  async #send(operation: 'renew' | 'refund', part: Part): Promise<Answer> {
    return this.store.decide({ operation, wait: 0, parts: [part] });
  }
}

const WOKEN = Symbol('woken');

/**
 * Sleeps between the polls of a call that waits in the queue of a key. A message of the store, an outage or the call's signal ends a
 * sleep early. The call does not depend on messages: it polls more often without a subscription.
 */
export class WakeSignal {
  readonly #stops: (() => void)[] = [];
  #subscription: 'none' | 'starting' | 'active' | 'ended' = 'none';
  #sleep: AbortController | undefined;
  #woken = false;
  #failure: { readonly error: unknown } | undefined;

  /** @param id of the call in the queue of `key` */
  constructor(
    readonly store: Decider,
    readonly key: string,
    readonly id: number,
    readonly signal: AbortSignal,
  ) {
    this.#stops.push(onAbort(signal, () => this.#sleep?.abort(WOKEN)));
    const stop = store.onOutage?.(key, (error) => this.#fail(error));
    if (stop !== undefined) this.#stops.push(stop);
  }

  get subscribed(): boolean {
    return this.#subscription === 'active';
  }

  /** Subscribes in the background, unless a subscription exists or is starting, or the store wakes nobody. */
  subscribe(): void {
    if (this.#subscription !== 'none' || this.store.listen === undefined) return;
    this.#subscription = 'starting';
    this.#listen().then(
      (unsubscribe) => {
        if (this.#subscription === 'ended') {
          unsubscribe();
          return;
        }
        this.#subscription = 'active';
        this.#stops.push(unsubscribe);
        this.#wake(); // a message may have been missed
      },
      (error: unknown) => {
        if (this.#subscription === 'ended') return;
        this.#subscription = 'none';
        // Temporarily unavailable: the next poll subscribes again. Any other error would happen each time.
        if (!isOutage(error) || error.reason === 'closed') this.#fail(error);
      },
    );
  }

  /** Sleeps for `micros`, or until the call should poll. @throws the signal's reason, or why the wait failed */
  async sleep(micros: number): Promise<void> {
    this.#check();
    if (!this.#woken) {
      this.#sleep = new AbortController();
      await this.store.clock.sleep(micros, this.#sleep.signal).catch((reason: unknown) => {
        if (reason !== WOKEN) throw reason;
      });
      this.#sleep = undefined;
    }
    this.#check();
    this.#woken = false;
  }

  end(): void {
    this.#subscription = 'ended';
    for (const stop of this.#stops) stop();
  }

  async #listen(): Promise<() => void> {
    return this.store.listen!(this.key, (id) => {
      if (id === this.id || id === EVERYONE) this.#wake();
    });
  }

  #wake(): void {
    this.#woken = true;
    this.#sleep?.abort(WOKEN);
  }

  #fail(error: unknown): void {
    this.#failure ??= { error };
    this.#sleep?.abort(WOKEN);
  }

  #check(): void {
    this.signal.throwIfAborted();
    if (this.#failure !== undefined) throw this.#failure.error;
  }
}
