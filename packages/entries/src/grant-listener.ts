import { clearTimeout, setTimeout, unref } from '@sluice/core/internal';
import type { TableLink } from './table-connection.js';

/** ms that the connection stays open after the last waiting call: another may come. */
const LINGER = 10_000;
/** ms between two attempts to connect. */
const PAUSE = 1_000;

/** The second connection of a store, on which it hears that another process has admitted waiting calls. It is open only while calls wait. */
export class GrantListener<Link extends TableLink> {
  readonly #open: () => Link;
  readonly #listen: (link: Link, granted: () => void) => Promise<unknown>;
  #granted: (() => void) | undefined;
  #link: Link | undefined;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  /**
   * @param open makes a client, which is not connected yet
   * @param listen calls `granted` with each message of another process, and resolves when it hears them
   */
  constructor(open: () => Link, listen: (link: Link, granted: () => void) => Promise<unknown>) {
    this.#open = open;
    this.#listen = listen;
  }

  /** One at a time. Calls `granted` also after a connection was lost: messages may have been lost with it. */
  watch(granted: () => void): () => void {
    this.#granted = granted;
    clearTimeout(this.#timer);
    if (this.#link === undefined) void this.#connect();
    return () => {
      this.#granted = undefined;
      clearTimeout(this.#timer);
      this.#timer = unref(setTimeout(() => this.#end(), LINGER));
    };
  }

  async #connect(): Promise<void> {
    if (this.#closed) return;
    let link: Link | undefined;
    const lost = (): void => {
      if (link !== this.#link) return;
      this.#end();
      if (this.#granted === undefined) return;
      this.#granted(); // until there is a connection again, nothing else tells
      this.#timer = unref(setTimeout(() => void this.#connect(), PAUSE));
    };
    try {
      link = this.#open();
      this.#link = link;
      link.onLost(lost);
      await link.connect();
      await this.#listen(link, () => this.#granted?.());
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
