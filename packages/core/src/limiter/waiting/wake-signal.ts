import type { Clock } from '../../clock.js';
import { onAbort } from './on-abort.js';

const LOOK = Symbol('look again');

/** Wakes a waiting call: to poll again, or to give up. Each sleep can be cut short. */
export class WakeSignal {
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #ignore: () => void;
  #nap: AbortController | undefined;
  #look = false;
  #failure: { readonly error: unknown } | undefined;

  /** @param signal aborting it ends the wait with its reason */
  constructor(clock: Clock, signal: AbortSignal) {
    this.#clock = clock;
    this.#signal = signal;
    this.#ignore = onAbort(signal, () => this.#nap?.abort(LOOK));
  }

  /** Wakes the call to poll: ends its sleep, or skips the next one. */
  look(): void {
    this.#look = true;
    this.#nap?.abort(LOOK);
  }

  /** Ends the wait with an error. */
  fail(error: unknown): void {
    this.#failure ??= { error };
    this.#nap?.abort(LOOK);
  }

  /** Sleeps for `micros`, or until `look` or `fail`. @throws the signal's reason, or the error given to `fail` */
  async nap(micros: number): Promise<void> {
    this.#check();
    if (!this.#look) {
      this.#nap = new AbortController();
      await this.#clock.sleep(micros, this.#nap.signal).catch((reason: unknown) => {
        if (reason !== LOOK) throw reason;
      });
      this.#nap = undefined;
    }
    this.#check();
    this.#look = false;
  }

  end(): void {
    this.#ignore();
  }

  #check(): void {
    this.#signal.throwIfAborted();
    if (this.#failure !== undefined) throw this.#failure.error;
  }
}
