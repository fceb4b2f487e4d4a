import { hasBackground } from '#platform';
import { unref } from '../clock.js';
import { clearTimeout, setTimeout } from '../native-timers.js';
import type { FleetBoard, FleetKind } from './board.js';

/** When texts are published, ms. */
export interface PublisherTimes {
  /** From a change until it is published. */
  readonly soon: number;
  /** Until an unchanged text is published again. */
  readonly every: number;
  /** Until a text expires that is not published again. */
  readonly ttl: number;
}

/** ms until the next attempt after the store did not take a text: it may be connecting. */
const AGAIN = 2_000;

/** Publishes the text of this process on a board, off the request path, until the board closes. Its timer keeps no process alive. */
export class Publisher {
  readonly #board: FleetBoard;
  readonly #kind: FleetKind;
  readonly #times: PublisherTimes;
  readonly #text: () => string | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isSoon = false;

  /** @param text called when it is published; undefined ends publishing until the next `changed` */
  constructor(board: FleetBoard, kind: FleetKind, times: PublisherTimes, text: () => string | undefined) {
    this.#board = board;
    this.#kind = kind;
    this.#times = times;
    this.#text = text;
  }

  /** There is something new to publish. */
  changed(): void {
    if (!hasBackground || this.#isSoon || this.#board.closed) return;
    this.#isSoon = true;
    this.#schedule(this.#times.soon);
  }

  #schedule(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = unref(setTimeout(() => void this.#publish(), ms));
  }

  async #publish(): Promise<void> {
    this.#isSoon = false;
    if (this.#board.closed) return;
    const text = this.#text();
    if (text === undefined) return;
    const published = await this.#board.publish(this.#kind, text, this.#times.ttl);
    if (!this.#isSoon) this.#schedule(published ? this.#times.every : AGAIN);
  }
}
