import type { Denial } from './errors.js';
import type { Hold } from './hold.js';

/** Renewals within a time to live: after a late one there is time for another. */
const RENEWALS = 3;

/** Renews a hold while its call runs, but not for a reader that has stopped reading. */
export class Renewal {
  #timer: NodeJS.Timeout | undefined;
  /** Renewals since the reader received its last chunk; undefined while it waits for the next one. */
  #unread: number | undefined;

  /**
   * @param renewed called after each renewal, with the denial if the hold has lapsed and its amounts no longer fit
   * @param failed receives the errors of renewals
   */
  constructor(
    readonly hold: Hold<string>,
    readonly renewed: (denial: Denial | undefined) => void,
    readonly failed: (error: unknown) => void,
  ) {}

  start(): void {
    this.#timer ??= setInterval(this.#tick, this.hold.ttl / RENEWALS).unref();
    if (this.hold.denial !== undefined) this.#renew(); // it may have lapsed before
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** The reader gets a chunk. If it reads no further for a time to live, renewals end: nothing says that it has gone. */
  delivered(): void {
    this.#unread = 0;
  }

  /** The reader waits for the next chunk. */
  awaited(): void {
    this.#unread = undefined;
    if (this.#timer !== undefined) return;
    this.#renew();
    this.start();
  }

  readonly #tick = (): void => {
    if (this.#unread === RENEWALS) {
      this.stop();
      return;
    }
    if (this.#unread !== undefined) this.#unread += 1;
    this.#renew();
  };

  #renew(): void {
    this.hold.renewed().then(this.renewed, this.failed);
  }
}
