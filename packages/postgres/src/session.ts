import { StoreConfigurationError, StoreUnavailableError } from '@sluice/core';
import { clearTimeout, setTimeout } from '@sluice/core/internal';
import type { TableNetwork } from '@sluice/entries';
import type { Link } from './clients.js';
import { classified, storeClosed } from './errors.js';
import type { Sql } from './sql.js';

/** ms that the first calls wait for the connection and the table, even if their deadline is shorter. As with Redis. */
const FIRST_CONNECTION = 2_000;
/** ms: the shortest deadline of a trip or an attempt to connect. Three deadlines, if that is longer. */
const SHORTEST_SILENCE = 2_000;
/** ms between two attempts to connect: the first, doubled up to the last with each that fails. */
const [FIRST_PAUSE, LONGEST_PAUSE] = [50, 1_000];

/** The connection of a store. It is opened by the first call, and again by the next one after a loss. */
export class Session implements TableNetwork {
  connectionError: Error | undefined;
  /** How long calls wait, ms. */
  deadline = 100;
  readonly #open: () => Link;
  readonly #sql: Sql;
  readonly #table: string;
  #link: Promise<Link> | undefined;
  #endTrip: ((error: Error) => void) | undefined;
  /** Failed attempts since the last connection. */
  #failures = 0;
  #notBefore = 0;
  #firstUntil: number | undefined = Number.POSITIVE_INFINITY;
  #closed = false;
  #current: Link | undefined;

  /** @param open makes a client; it does not connect */
  constructor(open: () => Link, sql: Sql, table: string) {
    this.#open = open;
    this.#sql = sql;
    this.#table = table;
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
    if (deadline > this.deadline) this.deadline = Math.ceil(deadline);
  }

  get isConnected(): boolean {
    return this.#link !== undefined;
  }

  /** Resolves when the server answers and has the table. @throws StoreUnavailableError, StoreConfigurationError; nothing was sent */
  ready(): Promise<Link> {
    if (this.#closed) throw storeClosed();
    if (this.#link === undefined) {
      if (performance.now() < this.#notBefore) throw classified(this.connectionError, true);
      this.#link = this.#connect();
    }
    return this.#link;
  }

  async #connect(): Promise<Link> {
    try {
      const link = this.#open();
      this.#current = link;
      link.onLost((error) => this.lost(link, error));
      await this.trip(() => link.connect());
      await this.trip(() => this.#setUp(link));
      this.#failures = 0;
      this.#firstUntil = undefined;
      this.connectionError = undefined;
      return link;
    } catch (error) {
      const pause = Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** this.#failures);
      this.#failures += 1;
      this.#notBefore = performance.now() + pause * (1 - Math.random() / 2);
      this.connectionError = error as Error;
      this.#drop(error as Error);
      this.#link = undefined;
      throw this.#closed ? storeClosed() : classified(error, true);
    }
  }

  async #setUp(link: Link): Promise<void> {
    const { inspect, create, columns } = this.#sql;
    const look = async () => (await link.query(inspect, []))[0]?.[0];
    let found = await look();
    if (found === null) {
      await link.query(create);
      found = await look();
    }
    if (found !== columns)
      throw new StoreConfigurationError(
        `postgres store: the table ${this.#table} belongs to another program (it has ${found}): give postgresStore a table of its own`,
      );
  }

  /**
   * Waits for replies, but not for ever. One trip at a time.
   * @throws what `send` rejects with; a StoreUnavailableError if the connection is silent, or lost
   */
  trip<T>(send: () => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const ms = Math.max(SHORTEST_SILENCE, 3 * this.deadline);
      const end = () => {
        clearTimeout(timer);
        this.#endTrip = undefined;
      };
      this.#endTrip = (error) => {
        end();
        reject(error);
      };
      const timer = setTimeout(() => this.#drop(new Error(`no answer within ${ms} ms`)), ms);
      send().then(
        (value) => {
          end();
          resolve(value);
        },
        (error) => {
          end();
          reject(error);
        },
      );
    });
  }

  /** Leaves a connection that is of no use any more. Its client rejects what it has not answered. */
  lost(link: Link, error: Error): void {
    if (link !== this.#current) return;
    this.connectionError = error;
    this.#link = undefined;
    this.#current = undefined;
    link.end(this.#endTrip !== undefined);
  }

  #drop(error: Error): void {
    const endTrip = this.#endTrip;
    if (this.#current !== undefined) this.lost(this.#current, error);
    endTrip?.(error);
  }

  close(): void {
    this.#closed = true;
    this.#drop(storeClosed());
  }
}
