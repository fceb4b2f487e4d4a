import type { Decider } from '../../engine/call.js';
import { isStoreUnavailableError } from '../../errors.js';

/**
 * Subscribes to the messages of a key in the background. A waiting call does not depend on them: it also polls, and more often
 * without a subscription.
 */
export class Listening {
  readonly #listen: () => Promise<() => void>;
  readonly #told: { look(): void; fail(error: unknown): void };
  #state: 'off' | 'beginning' | 'on' | 'ended' = 'off';
  #stop = () => {};

  /** @param told `look` runs when the subscription has started, as a message may have been missed; `fail` on a permanent error */
  constructor(
    store: Decider,
    key: string,
    granted: (id: number) => void,
    told: { look(): void; fail(error: unknown): void },
  ) {
    this.#listen = async () => store.listen(key, granted);
    this.#told = told;
  }

  get on(): boolean {
    return this.#state === 'on';
  }

  /** Subscribes, unless a subscription exists or is starting. */
  begin(): void {
    if (this.#state !== 'off') return;
    this.#state = 'beginning';
    this.#listen().then(
      (stop) => {
        if (this.#state === 'ended') {
          stop();
          return;
        }
        this.#state = 'on';
        this.#stop = stop;
        this.#told.look();
      },
      (error: unknown) => {
        if (this.#state === 'ended') return;
        this.#state = 'off';
        // Temporarily unavailable: the next poll subscribes again. Any other error would happen each time.
        if (!isStoreUnavailableError(error) || error.reason === 'closed') this.#told.fail(error);
      },
    );
  }

  end(): void {
    this.#state = 'ended';
    this.#stop();
  }
}
