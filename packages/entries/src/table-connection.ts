import { type StoreConfigurationError, StoreUnavailableError } from '@sluice/core';
import { clearTimeout, setTimeout } from '@sluice/core/internal';
import type { TableNetwork } from './entry-table.js';

/** ms for which the first calls wait for the connection and the table, even if their deadline is shorter. As with Redis. */
const FIRST_CONNECTION = 2_000;
/** ms after which a silent connection is given up; three deadlines, if that is longer. */
const SILENCE = 2_000;
/** ms between two attempts to connect, doubled with each that fails. Each gets shorter by up to half, by chance. */
const [FIRST_PAUSE, LONGEST_PAUSE] = [50, 1_000];

/** ms: longer deadlines count as a day. Three of them must fit a timer, and two of them a setting of Postgres: both end at 2^31 - 1. */
const LONGEST_DEADLINE = 86_400_000;

/** One connection of a client. */
export interface TableLink {
  connect(): Promise<unknown>;
  /** Calls `lost` when the connection ends, if the client tells. */
  onLost(lost: (error: Error) => void): void;
  /** @param now without waiting for the server, which may be silent */
  end(now: boolean): void;
}

export interface TableConnectionOptions<Link extends TableLink> {
  /** The function that makes the store, for messages. */
  readonly maker: string;
  /** Makes a client, which is not connected yet. */
  open(): Link;
  /** Resolves when the server has the table, which it may make. */
  setUp(link: Link): Promise<unknown>;
  /** An error of the client as one of ours. @param neverSent is it certain that nothing was kept? */
  classified(error: unknown, neverSent: boolean): StoreUnavailableError | StoreConfigurationError;
}

/** The connection of a store: opened by its first call, and after a loss by the next one. It is used for one thing at a time. */
export class TableConnection<Link extends TableLink> implements TableNetwork {
  connectionError: Error | undefined;
  /** How long calls wait, ms. */
  deadline = 100;
  readonly #options: TableConnectionOptions<Link>;
  #link: Link | undefined;
  #isReady = false;
  /** The end of the last transaction. */
  #last: Promise<unknown> = Promise.resolve();
  /** Ends the wait for replies. */
  #endTrip: ((error: Error) => void) | undefined;
  /** Failed attempts since there was a connection. */
  #failures = 0;
  #nextAttempt = 0;
  #firstUntil: number | undefined = Number.POSITIVE_INFINITY;
  #closed = false;

  constructor(options: TableConnectionOptions<Link>) {
    this.#options = options;
  }

  /** The first read starts the time. */
  get firstConnectionUntil(): number | undefined {
    if (this.#firstUntil === undefined) return undefined;
    const now = performance.now();
    const until = Math.min(this.#firstUntil, now + FIRST_CONNECTION);
    this.#firstUntil = now < until ? until : undefined;
    return this.#firstUntil;
  }

  expect(deadline: number): void {
    this.deadline = Math.max(this.deadline, Math.ceil(Math.min(deadline, LONGEST_DEADLINE)));
  }

  /** Is there a connection, which may have been lost meanwhile? */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** Works when the work before has ended. */
  inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => {}); // its caller gets the error
    return done;
  }

  /** Resolves when the server answers and has the table. @throws StoreUnavailableError, StoreConfigurationError */
  async ready(): Promise<Link> {
    const { open, setUp } = this.#options;
    if (this.#closed) throw this.#wasClosed(true);
    if (this.#isReady) return this.#link!;
    if (performance.now() < this.#nextAttempt) throw this.errorOf(this.connectionError, true);
    try {
      const link = open();
      this.#link = link;
      link.onLost((error) => this.lost(link, error));
      await this.trip(() => link.connect());
      await this.trip(() => setUp(link));
      if (this.#link !== link) throw this.connectionError;
      this.#isReady = true;
      this.#failures = 0;
      this.#firstUntil = undefined;
      this.connectionError = undefined;
      return link;
    } catch (error) {
      const pause = Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** this.#failures);
      this.#failures += 1;
      this.#nextAttempt = performance.now() + pause * (1 - Math.random() / 2);
      this.#drop(error as Error);
      throw this.errorOf(error, true);
    }
  }

  /** Sends, and waits for the replies, but not without end. @throws what `send` rejects with; StoreUnavailableError */
  trip<T>(send: () => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const ms = Math.max(SILENCE, 3 * this.deadline);
      const timer = setTimeout(() => this.#drop(new Error(`no answer within ${ms} ms`)), ms);
      this.#endTrip = reject;
      const end = () => {
        clearTimeout(timer);
        if (this.#endTrip === reject) this.#endTrip = undefined;
      };
      send().then(resolve, reject).finally(end);
    });
  }

  /** Leaves a connection that is of no use any more. Its client rejects what it has not answered. */
  lost(link: Link, error: Error): void {
    if (link !== this.#link) return;
    this.connectionError = error;
    this.#link = undefined;
    this.#isReady = false;
    link.end(this.#endTrip !== undefined);
  }

  #drop(error: Error): void {
    this.connectionError = error;
    if (this.#link !== undefined) this.lost(this.#link, error);
    this.#endTrip?.(error);
  }

  /** An error of `trip` as one of ours. @param neverSent is it certain that nothing was kept? */
  errorOf(error: unknown, neverSent: boolean): StoreUnavailableError | StoreConfigurationError {
    return this.#closed ? this.#wasClosed(neverSent) : this.#options.classified(error, neverSent);
  }

  #wasClosed(neverSent: boolean): StoreUnavailableError {
    const { maker } = this.#options;
    return new StoreUnavailableError(`${maker}: it was closed`, { reason: 'closed', neverSent });
  }

  close(): void {
    this.#closed = true;
    this.#drop(this.#wasClosed(true));
  }
}
