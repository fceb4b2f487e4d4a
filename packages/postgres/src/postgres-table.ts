import type { Clock } from '@sluice/core';
import {
  type Changes,
  type EntryTable,
  type GrantListener,
  type KeptEntry,
  type OpenKeys,
  TableConnection,
} from '@sluice/entries';
import type { Link } from './clients.js';
import { classified, codeOf, connectionReplaced, isAgain, needsConnection } from './errors.js';
import { setUp, type Wanted } from './set-up.js';
import { arrayOf, bytesArrayOf, type Sql } from './sql.js';

/** Entries that one step of a sweep looks at. */
const SWEPT = 1_000;

export interface PostgresTableOptions extends Wanted {
  readonly open: () => Link;
  /** Undefined: calls that wait poll. */
  readonly listener: GrantListener<Link> | undefined;
  /** Are statements kept by name? Not behind a pooler: another server connection would not know them. */
  readonly prepares: boolean;
  /** For tests. Undefined: the database's clock. */
  readonly clock: Clock | undefined;
  readonly loading: Promise<unknown> | undefined;
}

/** The keys that a turn has locked. */
interface Locked extends OpenKeys {
  /** All of them, also those that do not exist. */
  readonly keys: readonly string[];
  readonly transaction: string;
}

/** The entries of a table of Postgres. All processes decide together: each turn locks the rows of its keys. */
export class PostgresTable implements EntryTable {
  readonly network: TableConnection<Link>;
  readonly watch?: (granted: () => void) => () => void;
  readonly #options: PostgresTableOptions;
  readonly #sql: Sql;
  /** The key up to which this sweep has looked. */
  #sweptTo = '';

  constructor(options: PostgresTableOptions) {
    const { sql, open, listener } = options;
    this.#options = options;
    this.#sql = sql;
    this.network = new TableConnection({
      ...{ maker: 'postgresStore', open, classified },
      setUp: (link) => setUp(link, options),
    });
    if (listener !== undefined) this.watch = (granted) => listener.watch(granted);
  }

  async connect(): Promise<void> {
    await this.#options.loading;
    await this.network.inTurn(() => this.network.ready());
  }

  change(keys: readonly string[], decide: (open: OpenKeys) => Changes): Promise<void> {
    return this.network.inTurn(async () => {
      let mayReconnect = this.network.isReady;
      for (;;) {
        const link = await this.network.ready();
        const locked = await this.#lock(link, keys, mayReconnect);
        if (locked === undefined) mayReconnect = false;
        else if (await this.#keep(link, locked, decide)) return;
      }
    });
  }

  /** Trip 1. @returns undefined to try again: on a new connection, if this one was lost before it was used */
  async #lock(link: Link, keys: readonly string[], mayReconnect: boolean): Promise<Locked | undefined> {
    const { network } = this;
    try {
      const [, rows] = await network.trip(() =>
        Promise.all([
          link.query(this.#sql.begin(network.deadline)),
          this.#query(link, 'lock', [arrayOf(keys)]),
        ]),
      );
      return this.#lockedOf(keys, rows);
    } catch (error) {
      this.#failed(link, error as Error);
      if (isAgain(error) || (mayReconnect && !network.isReady)) return undefined;
      throw network.errorOf(error, true);
    }
  }

  #lockedOf(keys: readonly string[], rows: readonly (readonly unknown[])[]): Locked {
    const { clock } = this.#options;
    const entries = new Map<string, KeptEntry>();
    let [transaction, now] = ['', 0];
    for (const [key, entry, number] of rows as readonly [string, Buffer | null, string][]) {
      if (entry === null) [transaction, now] = [key, clock?.now() ?? Number(number)];
      else entries.set(key, { key, entry, expires: Number(number) });
    }
    return { keys, now, entries, transaction };
  }

  /** Trip 2. @returns whether everything was kept; otherwise nothing was */
  async #keep(link: Link, locked: Locked, decide: (open: OpenKeys) => Changes): Promise<boolean> {
    let changes: Changes;
    try {
      changes = decide(locked);
    } catch (error) {
      link.query('ROLLBACK').catch(() => {}); // a lost connection ends the transaction as well
      throw error;
    }
    const { changed, grants } = changes;
    if (changed.length === 0 && !grants) {
      link.query('COMMIT').catch(() => {}); // there is nothing to keep: the answers need not wait for it
      return true;
    }
    const { expected, replies } = this.#send(link, locked, changes);
    try {
      const [[[kept, same] = []] = []] = await this.network.trip(() => Promise.all(replies));
      if (same !== true) throw connectionReplaced();
      return Number(kept) === expected;
    } catch (error) {
      this.#failed(link, error as Error);
      if (isAgain(error)) return false;
      throw this.network.errorOf(error, await isCertain(replies, codeOf(error)));
    }
  }

  /** @returns the replies, first to the writes and last to COMMIT, and how many keys the writes must keep */
  #send(link: Link, { keys, entries, transaction }: Locked, { changed, grants }: Changes) {
    const kept = changed.filter(({ entry }) => entry !== undefined);
    const inserted = kept.filter(({ key }) => !entries.has(key));
    const updated = kept.filter(({ key }) => entries.has(key));
    const removed = changed.filter(({ key, entry }) => entry === undefined && entries.has(key));
    const made = new Set(inserted.map(({ key }) => key));
    const absent = keys.filter((key) => !entries.has(key) && !made.has(key));
    const onlyUpdates = inserted.length === 0 && removed.length === 0 && absent.length === 0;
    const columns = onlyUpdates
      ? [...columnsOf(updated), transaction]
      : [...columnsOf(updated), keysOf(removed), transaction, arrayOf(absent)];
    const replies = [
      onlyUpdates
        ? this.#query(link, 'update', columns)
        : this.#query(link, 'keep', [...columnsOf(inserted), ...columns]),
    ];
    if (inserted.length > 1) replies.push(this.#query(link, 'undo', [keysOf(inserted)]));
    if (grants) replies.push(link.query(this.#sql.notify));
    replies.push(link.query('COMMIT'));
    return { expected: onlyUpdates ? updated.length : inserted.length, replies };
  }

  #query(link: Link, name: 'lock' | 'update' | 'keep' | 'undo', values: readonly unknown[]) {
    return link.query(this.#sql[name], values, this.#options.prepares ? `sluice_${name}` : undefined);
  }

  /** Ends the transaction, or a connection that is of no use any more. */
  #failed(link: Link, error: Error): void {
    if (needsConnection(error)) this.network.lost(link, error);
    else link.query('ROLLBACK').catch(() => {}); // a lost connection ends it, too
  }

  async keysAfter(key: string, most: number): Promise<readonly string[]> {
    const rows = await this.#statement(this.#sql.keysAfter, [key, most]);
    return rows.map(([found]) => String(found));
  }

  async sweep(): Promise<boolean> {
    const now = this.#options.clock?.now() ?? null;
    const [[last, looked] = []] = await this.#statement(this.#sql.sweep, [this.#sweptTo, SWEPT, now]);
    const hasMore = Number(looked) === SWEPT;
    this.#sweptTo = hasMore ? String(last) : '';
    return hasMore;
  }

  /** A transaction of one statement. */
  #statement(text: string, values: readonly unknown[]): Promise<readonly (readonly unknown[])[]> {
    return this.network.inTurn(async () => {
      const link = await this.network.ready();
      try {
        return await this.network.trip(() => link.query(text, values));
      } catch (error) {
        this.#failed(link, error as Error);
        throw this.network.errorOf(error, false);
      }
    });
  }

  close(): void {
    this.#options.listener?.close();
    this.network.close();
  }
}

const keysOf = (all: readonly KeptEntry[]): string => arrayOf(all.map(({ key }) => key));

/** Keys, entries and expiries. */
const columnsOf = (all: readonly KeptEntry[]): readonly string[] => [
  keysOf(all),
  bytesArrayOf(all.map(({ entry }) => entry!)),
  `{${all.map(({ expires }) => expires).join(',')}}`,
];

/** Is it certain that a turn was not kept? A server that shuts down may have kept what it has not answered. */
async function isCertain(replies: readonly Promise<unknown>[], code: string | undefined): Promise<boolean> {
  if (code === undefined || !code.startsWith('57P')) return code !== undefined;
  const writes = await Promise.allSettled(replies.slice(0, -1));
  return writes.some(({ status }) => status === 'rejected');
}
