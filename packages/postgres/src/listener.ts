import { clearTimeout, setTimeout, unref } from '@sluice/core/internal';
import type { Link } from './clients.js';

/** ms that the connection stays open after the last waiting call: another may come. */
const LINGER = 10_000;
/** ms between two attempts to connect. */
const PAUSE = 1_000;

/** The second connection of a store, on which it hears that another process has admitted waiting calls. It is open only while calls wait. */
export class Listener {
  readonly #open: () => Link;
  readonly #channel: string;
  readonly #id: string;
  #granted: (() => void) | undefined;
  #link: Link | undefined;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  /** @param id the messages of this process itself: it knows already */
  constructor(open: () => Link, channel: string, id: string) {
    this.#open = open;
    this.#channel = channel;
    this.#id = id;
  }

  /** One at a time. Calls `granted` also after a connection was lost: messages may have been lost with it. */
  watch(granted: () => void): () => void {
    this.#granted = granted;
    clearTimeout(this.#timer);
    if (this.#link === undefined) void this.#listen();
    return () => {
      this.#granted = undefined;
      clearTimeout(this.#timer);
      this.#timer = unref(setTimeout(() => this.#end(), LINGER));
    };
  }

  async #listen(): Promise<void> {
    if (this.#closed) return;
    let link: Link | undefined;
    const lost = (): void => {
      if (link !== this.#link) return;
      this.#end();
      if (this.#granted === undefined) return;
      this.#granted(); // until there is a connection again, nothing else tells
      this.#timer = unref(setTimeout(() => void this.#listen(), PAUSE));
    };
    try {
      link = this.#open();
      this.#link = link;
      link.onLost(lost);
      await link.connect();
      await link.listen(this.#channel, (id) => {
        if (id !== this.#id) this.#granted?.();
      });
      this.#granted?.(); // before this moment nothing was heard
    } catch {
      lost(); // decisions report outages
    }
  }

  #end(): void {
    clearTimeout(this.#timer);
    const link = this.#link;
    this.#link = undefined;
    link?.end(false);
  }

  close(): void {
    this.#closed = true;
    this.#granted = undefined;
    this.#end();
  }
}
