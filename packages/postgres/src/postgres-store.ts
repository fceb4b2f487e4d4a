import { createHash, randomUUID } from 'node:crypto';
import { type Clock, systemClock } from '@sluice/core';
import { checkBoolean, checkOptions, describe } from '@sluice/core/internal';
import { EntryStore, GrantListener, SHARING_OPTIONS, type SharingOptions } from '@sluice/entries';
import { type Link, linkOf, loadPg, type PgClient, type PostgresClient } from './clients.js';
import { PostgresTable } from './postgres-table.js';
import { sqlOf } from './sql.js';

export interface PostgresStoreOptions extends SharingOptions {
  /** The address: `postgres://user:password@host:5432/database`. Needs `pg`. */
  readonly url?: string | undefined;
  /** Options of `pg`, instead of the address or beside it: `{ host, user, password, database, ssl }`. */
  readonly connection?: Readonly<Record<string, unknown>> | undefined;
  /**
   * Makes a client instead: `() => new pg.Client(…)`, or `() => postgres(url, { max: 1 })` of postgres.js. It is called for each connection,
   * and must return a new client, never your pool. The store connects it and ends it.
   */
  readonly connect?: (() => PostgresClient) | undefined;
  /** The name of the table, which this store makes. Default `'sluice'`. */
  readonly table?: string | undefined;
  /** The schema of the table. Default: the first one of the user's `search_path`. */
  readonly schema?: string | undefined;
  /** Makes the table if there is none. `false`: calls then reject with a StoreConfigurationError that has the statement. Default `true`. */
  readonly create?: boolean | undefined;
  /**
   * For a table that is not made yet. UNLOGGED is fast, and a crash of the server empties it. `false`: counts survive, and each turn waits for the
   * disk. Default `true`.
   */
  readonly unlogged?: boolean | undefined;
  /**
   * Uses what belongs to a connection: LISTEN, on a second one while calls wait, and prepared statements. `false`: behind pgbouncer or another
   * pooler; calls that wait then poll. Default `true`.
   */
  readonly listen?: boolean | undefined;
  /** For tests: a `ManualClock`. Default: the database's time. */
  readonly clock?: Clock | undefined;
}

const OPTIONS = ['url', 'connection', 'connect', 'table', 'schema', 'create', 'unlogged', 'listen', 'clock'];
const REMEDIES = {
  pool: 'pass url: a store has a connection of its own, which neither waits for your pool nor exhausts it',
  connectionString: 'pass url',
  tableName: 'pass table',
};
const EXAMPLE = "such as 'postgres://user:password@localhost:5432/database'";
/** Bytes; Postgres cuts longer names. */
const LONGEST_NAME = 63;

/**
 * Keeps state in a table of Postgres: all processes that share the database count together, without Redis. Its connection, which is its own, opens
 * with the first call.
 * @throws TypeError for an invalid option
 */
export function postgresStore(options: string | PostgresStoreOptions): PostgresStore {
  return new PostgresStore(typeof options === 'string' ? { url: options } : options);
}

/** The store that `postgresStore` returns. */
export class PostgresStore extends EntryStore {
  /** The name of its table: `schema.table` if the option `schema` is set. */
  readonly table: string;

  constructor(options: PostgresStoreOptions) {
    checkOptions('postgresStore', options, [...OPTIONS, ...SHARING_OPTIONS], REMEDIES);
    const { table = 'sluice', schema, create = true, unlogged = true, listen = true, clock } = options;
    checkName('table', table);
    if (schema !== undefined) checkName('schema', schema);
    checkBoolean('postgresStore: create', create);
    checkBoolean('postgresStore: unlogged', unlogged);
    checkBoolean('postgresStore: listen', listen);
    const { open, address, loading } = openerOf(options);
    const name = schema === undefined ? table : `${schema}.${table}`;
    const id = randomUUID();
    const channel = channelOf(name);
    const sql = sqlOf({ schema, table, channel }, unlogged, id);
    const hear = (link: Link, granted: () => void) => {
      const heard = (from: string) => {
        if (from !== id) granted(); // this process itself knows already
      };
      return link.listen(channel, heard, granted);
    };
    const listening = { open, listen: hear, probe: (link: Link) => link.probe() };
    const listener = listen ? new GrantListener(listening) : undefined;
    const rows = new PostgresTable({ sql, name, open, listener, create, prepares: listen, clock, loading });
    super({ name: 'postgres', address, clock: clock ?? systemClock, table: rows, loading, options });
    this.table = name;
  }
}

function checkName(what: string, name: unknown): void {
  if (typeof name === 'string' && /^[^\0]+$/.test(name) && Buffer.byteLength(name) <= LONGEST_NAME) return;
  throw new TypeError(
    `postgresStore: ${what} must be a name of 1 to ${LONGEST_NAME} bytes, such as 'sluice', not ${describe(name)}`,
  );
}

/** The channel of a table. Postgres cuts long names, and postgres.js ignores messages on a channel with another name. */
function channelOf(table: string): string {
  const channel = `sluice ${table}`;
  if (Buffer.byteLength(channel) <= LONGEST_NAME) return channel;
  return `sluice ${createHash('sha256').update(table).digest('base64url')}`;
}

interface Opener {
  open(): Link;
  /** For messages, without a password. */
  readonly address: string;
  readonly loading?: Promise<unknown>;
}

function openerOf({ url, connection, connect }: PostgresStoreOptions): Opener {
  if (connect !== undefined) {
    if (typeof connect !== 'function' || url !== undefined || connection !== undefined)
      throw new TypeError(
        `postgresStore: connect must be a function that returns a new client, such as () => new pg.Client(url), instead of url and connection, not ${describe(connect)}`,
      );
    return { open: () => linkOf(connect()), address: 'the server of connect()' };
  }
  if (connection !== undefined && (typeof connection !== 'object' || connection === null))
    throw new TypeError(
      `postgresStore: connection must be options of pg, such as { host: 'localhost' }, not ${describe(connection)}`,
    );
  const address = url === undefined && connection !== undefined ? addressOf(connection) : shownAddress(url);
  let newClient: (options: object) => PgClient;
  const loading = loadPg().then((loaded) => {
    newClient = loaded;
  });
  loading.catch(() => {}); // each call rejects with it
  const server = url === undefined ? connection : { ...connection, connectionString: url };
  const options = { application_name: 'sluice', keepAlive: true, ...server };
  return { open: () => linkOf(newClient(options)), address, loading };
}

/** An address without the user and the password, which may contain `@` and `/`. @throws TypeError that does not show them either */
function shownAddress(url: unknown): string {
  const found = typeof url === 'string' ? /^postgres(?:ql)?:\/\/(?:[^?#]*@)?([^?#]*)/.exec(url) : null;
  if (found !== null) return `postgres://${found[1]}`;
  const given = typeof url === 'string' ? 'a text of another form' : describe(url);
  throw new TypeError(`postgresStore: url must be the address of a database, ${EXAMPLE}, not ${given}`);
}

const addressOf = ({ host = 'localhost', port = 5432, database = '' }: Readonly<Record<string, unknown>>) =>
  `postgres://${host}:${port}/${database}`;
