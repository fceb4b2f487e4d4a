import type { Decider } from '../../call/call.js';
import { EVERYONE } from '../../call/operation.js';
import { isOutage } from '../../store-refusal.js';
import { onAbort } from './on-abort.js';

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
