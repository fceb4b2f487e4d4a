import { StoreConfigurationError } from '@sluice/core';
import { clearTimeout, setTimeout } from '@sluice/core/internal';
import type { TableNetwork } from '@sluice/entries';
import type { Link } from './clients.js';
import { classified, storeClosed } from './errors.js';
import { COLUMNS, type Sql } from './sql.js';

/** ms for which the first calls wait for the connection and the table, even if their deadline is shorter. As with Redis. */
const FIRST_CONNECTION = 2_000;
/** ms after which a silent connection is given up; three deadlines, if that is longer. */
const SILENCE = 2_000;
/** ms between two attempts to connect, doubled with each that fails. Each gets shorter by up to half, by chance. */
const [FIRST_PAUSE, LONGEST_PAUSE] = [50, 1_000];

/** The connection of a store: opened by its first call, and after a loss by the next one. It is used for one thing at a time. */
export class Session implements TableNetwork {
  connectionError: Error | undefined;
  /** How long calls wait, ms. */
  deadline = 100;
  #link: Link | undefined;
  #isReady = false;
  /** Ends the wait for replies. */
  #endTrip: ((error: Error) => void) | undefined;
  /** Failed attempts since there was a connection. */
  #failures = 0;
  #nextAttempt = 0;
  #firstUntil: number | undefined = Number.POSITIVE_INFINITY;
  #closed = false;

  /**
   * @param open makes a client, which is not connected yet
   * @param table its name, for messages
   * @param creates is it made if there is none?
   */
  constructor(
    private readonly open: () => Link,
    private readonly sql: Sql,
    private readonly table: string,
    private readonly creates: boolean,
  ) {}

  /** The first read starts the time. */
  get firstConnectionUntil(): number | undefined {
    if (this.#firstUntil === undefined) return undefined;
    const now = performance.now();
    const until = Math.min(this.#firstUntil, now + FIRST_CONNECTION);
    this.#firstUntil = now < until ? until : undefined;
    return this.#firstUntil;
  }

  expect(deadline: number): void {
    this.deadline = Math.max(this.deadline, Math.ceil(deadline));
  }

  /** Is there a connection, which may have been lost meanwhile? */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** Resolves when the server answers and has the table. @throws StoreUnavailableError, StoreConfigurationError */
  async ready(): Promise<Link> {
    if (this.#closed) throw storeClosed();
    if (this.#isReady) return this.#link!;
    if (performance.now() < this.#nextAttempt) throw classified(this.connectionError, true);
    try {
      const link = this.open();
      this.#link = link;
      link.onLost((error) => this.lost(link, error));
      await this.trip(() => link.connect());
      await this.trip(() => this.#setUp(link));
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
      throw this.#closed ? storeClosed() : classified(error, true);
    }
  }

  async #setUp(link: Link): Promise<void> {
    const look = async () => (await link.query(this.sql.inspect, []))[0]?.[0];
    let found = await look();
    if (found === null && !this.creates)
      throw new StoreConfigurationError(
        `postgresStore: there is no table ${this.table}: give postgresStore the name of its table, or make it as docs/postgres.md says`,
      );
    if (found === null) {
      await link.query(this.sql.create);
      found = await look();
    }
    if (found !== COLUMNS)
      throw new StoreConfigurationError(
        `postgresStore: the table ${this.table} belongs to another program (it has ${found}): give postgresStore a table of its own`,
      );
  }

  /** Sends, and waits for the replies, but not without end. @throws what `send` rejects with; storeClosed */
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

  close(): void {
    this.#closed = true;
    this.#drop(storeClosed());
  }
}
