import { randomUUID } from 'node:crypto';
import { type Clock, systemClock } from '@sluice/core';
import { checkBoolean, checkOptions, describe } from '@sluice/core/internal';
import { EntryStore, SHARING_OPTIONS, type SharingOptions } from '@sluice/entries';
import { type Link, linkOf, loadPg, type PgClient, type PostgresClient } from './clients.js';
import { Listener } from './listener.js';
import { PostgresTable } from './postgres-table.js';
import { sqlOf } from './sql.js';

export interface PostgresStoreOptions extends SharingOptions {
  /** The address: `postgres://user:password@host:5432/database`. Needs `pg`. */
  readonly url?: string | undefined;
  /** Options of `pg` instead of, or beside, the address: `{ host, user, password, database, ssl }`. */
  readonly connection?: Readonly<Record<string, unknown>> | undefined;
  /**
   * Makes a client, instead of the address: `() => new pg.Client(…)`, or `() => postgres(url, { max: 1 })` of postgres.js. It is called for each
   * connection: a new client each time, never your pool. The store connects it, and closes it.
   */
  readonly connect?: (() => PostgresClient) | undefined;
  /** The name of the table. Default `'sluice'`. */
  readonly table?: string | undefined;
  /** The schema of the table. Default: the first one of the user's `search_path`. */
  readonly schema?: string | undefined;
  /**
   * Makes the table UNLOGGED: it is fast, and a crash of the server empties it. `false`: counts survive, and each turn waits for the disk.
   * Counts when the table is made. Default `true`.
   */
  readonly unlogged?: boolean | undefined;
  /**
   * Uses what belongs to one connection of the server: LISTEN, on a second connection while calls wait, and prepared statements. `false`: behind
   * pgbouncer or another pooler; calls that wait then poll. Default `true`.
   */
  readonly listen?: boolean | undefined;
  /** For tests: a `ManualClock`. Default: the database's time. */
  readonly clock?: Clock | undefined;
}

const OPTIONS = ['url', 'connection', 'connect', 'table', 'schema', 'unlogged', 'listen', 'clock'];
const EXAMPLE = "such as 'postgres://user:password@localhost:5432/database'";
/** Postgres cuts longer names. */
const LONGEST_NAME = 63;

/**
 * Keeps state in a table of Postgres: all processes that share the database count together, without Redis. It opens a connection of its own at
 * the first call.
 * @throws TypeError, RangeError for an invalid option
 */
export function postgresStore(options: string | PostgresStoreOptions): PostgresStore {
  return new PostgresStore(typeof options === 'string' ? { url: options } : options);
}

/** The store that `postgresStore` returns. */
export class PostgresStore extends EntryStore {
  /** The name of the table, with its schema if that was given. */
  readonly table: string;

  constructor(options: PostgresStoreOptions) {
    checkOptions('postgresStore', options, [...OPTIONS, ...SHARING_OPTIONS], {
      pool: 'pass url: a store has a connection of its own, so that it neither waits for your pool nor exhausts it',
      connectionString: 'pass url',
      host: 'pass connection: { host }',
      tableName: 'pass table',
    });
    const { table = 'sluice', schema, unlogged = true, listen = true, clock } = options;
    checkName('table', table);
    if (schema !== undefined) checkName('schema', schema);
    checkBoolean('postgresStore: unlogged', unlogged);
    checkBoolean('postgresStore: listen', listen);
    const { open, address, loading } = openerOf(options);
    const name = schema === undefined ? table : `${schema}.${table}`;
    const id = randomUUID();
    const channel = `sluice ${name}`.slice(0, LONGEST_NAME);
    super({
      name: 'postgres',
      address,
      clock: clock ?? systemClock,
      table: new PostgresTable({
        sql: sqlOf({ schema, table, channel }, unlogged, id),
        name,
        open,
        listener: listen ? new Listener(open, channel, id) : undefined,
        prepares: listen,
        clock,
        loading,
      }),
      loading,
      options,
    });
    this.table = name;
  }
}

function checkName(what: string, name: unknown): void {
  if (typeof name === 'string' && name !== '' && !name.includes('\0') && Buffer.byteLength(name) <= LONGEST_NAME)
    return;
  throw new TypeError(
    `postgresStore: ${what} must be a name of at most ${LONGEST_NAME} bytes, such as 'sluice', not ${describe(name)}`,
  );
}

interface Opener {
  readonly open: () => Link;
  /** For messages, without a password. */
  readonly address: string;
  readonly loading: Promise<unknown> | undefined;
}

function openerOf({ url, connection, connect }: PostgresStoreOptions): Opener {
  if (connect !== undefined) {
    if (typeof connect !== 'function')
      throw new TypeError(
        `postgresStore: connect must be a function that returns a new client, such as () => new pg.Client(url), not ${describe(connect)}`,
      );
    if (url !== undefined || connection !== undefined)
      throw new TypeError('postgresStore: give connect, or url and connection, not both');
    return { open: () => linkOf(connect()), address: 'the Postgres of `connect`', loading: undefined };
  }
  if (connection !== undefined && (typeof connection !== 'object' || connection === null))
    throw new TypeError(
      `postgresStore: connection must be an object of options of pg, such as { host: 'localhost' }, not ${describe(connection)}`,
    );
  if (url === undefined && connection === undefined)
    throw new TypeError(`postgresStore: give it the address of a database, ${EXAMPLE}`);
  const address = url === undefined ? addressOf(connection!) : shownAddress(url);
  let newClient: (options: object) => PgClient;
  const loading = loadPg().then((loaded) => {
    newClient = loaded;
  });
  loading.catch(() => {}); // each call rejects with it
  const options = {
    application_name: 'sluice',
    keepAlive: true,
    ...connection,
    ...(url !== undefined && { connectionString: url }),
  };
  return { open: () => linkOf(newClient({ ...options, pipeline: true })), address, loading };
}

function shownAddress(url: unknown): string {
  let parsed: URL | undefined;
  try {
    parsed = new URL(String(url));
  } catch {} // named below
  if (typeof url !== 'string' || !/^postgres(?:ql)?:$/.test(parsed?.protocol ?? ''))
    throw new TypeError(
      `postgresStore: url must be the address of a database, ${EXAMPLE}, not ${typeof url === 'string' ? 'a text without it' : describe(url)}`,
    );
  return `postgres://${parsed!.host}${parsed!.pathname}`;
}

const addressOf = ({ host = 'localhost', port = 5432, database = '' }: Readonly<Record<string, unknown>>): string =>
  `postgres://${String(host)}:${String(port)}/${String(database)}`;
