import { clearTimeout, setTimeout, unref } from '@sluice/core/internal';
import type { TableLink } from './table-connection.js';

/** ms that the connection stays open after the last waiting call: another may come. */
const LINGER = 10_000;
/** ms between two attempts to connect. */
const PAUSE = 1_000;
/** ms between two probes of an open connection. A firewall or a lost host may end it silently, and nothing else is sent on it. */
const PROBE = 10_000;
/** ms after which a silent connection is given up. */
const SILENCE = 5_000;

/** What a listener does with a connection. */
export interface Listening<Link extends TableLink> {
  /** Makes a client, which is not connected yet. */
  open(): Link;
  /**
   * Calls `granted` with each message of another process, and whenever the client has connected again by itself. Resolves when it hears
   * messages.
   */
  listen(link: Link, granted: () => void): Promise<unknown>;
  /** Resolves when the server answers on the connection that hears. */
  probe(link: Link): Promise<unknown>;
}

/** The second connection of a store, on which it hears that another process has admitted waiting calls. It is open only while calls wait. */
export class GrantListener<Link extends TableLink> {
  readonly #listening: Listening<Link>;
  #granted: (() => void) | undefined;
  #link: Link | undefined;
  #timer: NodeJS.Timeout | undefined;
  #probing: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(listening: Listening<Link>) {
    this.#listening = listening;
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
    const { open, listen } = this.#listening;
    let link: Link | undefined;
    const lost = (): void => {
      if (link !== this.#link) return;
      this.#end();
      if (this.#granted === undefined) return;
      this.#granted(); // until there is a connection again, nothing else tells
      this.#timer = unref(setTimeout(() => void this.#connect(), PAUSE));
    };
    try {
      link = open();
      this.#link = link;
      link.onLost(lost);
      await inTime(link.connect());
      await inTime(listen(link, () => this.#granted?.()));
      this.#granted?.(); // before this moment nothing was heard
      this.#probeLater(link, lost);
    } catch {
      lost(); // decisions report outages
    }
  }

  #probeLater(link: Link, lost: () => void): void {
    if (link !== this.#link) return;
    const probe = (): void => {
      inTime(this.#listening.probe(link)).then(() => this.#probeLater(link, lost), lost);
    };
    this.#probing = unref(setTimeout(probe, PROBE));
  }

  #end(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#probing);
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

/** An answer that must come soon. @throws Error if it does not */
function inTime<T>(answer: Promise<T>): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const late = () => reject(new Error(`no answer within ${SILENCE} ms`));
    const timer = unref(setTimeout(late, SILENCE));
    answer.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
