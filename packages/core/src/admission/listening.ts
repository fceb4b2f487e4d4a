import { isStoreUnavailableError } from '../errors.js';
import type { Store } from '../stores/store.js';

/**
 * Listens to the messages of a key in the background. A call that waits does not depend on them: it also looks by itself, more often
 * while nothing is listened to.
 */
export class Listening {
  readonly #listen: () => Promise<() => void>;
  readonly #told: { look(): void; fail(error: unknown): void };
  #state: 'off' | 'beginning' | 'on' | 'ended' = 'off';
  #stop = () => {};

  /** @param told `look` when it has begun to listen: a message may have been missed before; `fail` when it never can */
  constructor(
    store: Store,
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

  /** Begins to listen, unless it does or is about to. */
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
        // Out of reach for the moment: the next look tries again. Anything else would fail each time.
        if (!isStoreUnavailableError(error) || error.reason === 'closed') this.#told.fail(error);
      },
    );
  }

  end(): void {
    this.#state = 'ended';
    this.#stop();
  }
}
