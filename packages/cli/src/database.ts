import { existsSync } from 'node:fs';
import { memoryStore, type Store } from '@sluice/core';
import type { StoredEntries } from '@sluice/entries';
import { CliError } from './cli-error.js';
import type { Finding } from './doctor/finding.js';
import type { DoctorOptions } from './doctor/settings.js';
import { examineSqlite } from './doctor/sqlite/examine-sqlite.js';

/** A store that processes share, as a command needs it. */
export type SharedStore = Store & Required<Pick<Store, 'connect' | 'fleet' | 'look' | 'texts'>>;

interface Opened {
  readonly store: SharedStore;
  /** See `Connection`. */
  readonly entries?: StoredEntries;
  /** See `Connection`. */
  examine?(options: DoctorOptions): Promise<Finding[]>;
  /** Without user and password. */
  readonly address: string;
  close(): Promise<void>;
}

/** The options of the command line for a database. */
export interface DatabaseOptions {
  /** Of Postgres: its name, or schema.name. */
  readonly table?: string | undefined;
}

interface Opening extends DatabaseOptions {
  /** May the command make the file or the table? */
  readonly creates: boolean;
  /** See `NamedStore`. */
  readonly serves: boolean;
}

/** How the address of a database begins, and how its store is opened. */
const DATABASES: Readonly<Record<string, (address: string, options: Opening) => Promise<Opened>>> = {
  'postgres:': openPostgres,
  'postgresql:': openPostgres,
  'sqlite:': openSqlite,
  'https:': openUpstash,
  'http:': openUpstash,
  'memory:': openMemory,
};

const schemeOf = (address: string): string => /^[a-z]+:/.exec(address)?.[0] ?? '';

export const isDatabase = (address: string): boolean => Object.hasOwn(DATABASES, schemeOf(address));

/** @throws CliError if it cannot be there */
export const connectDatabase = (address: string, options: Opening): Promise<Opened> =>
  DATABASES[schemeOf(address)]!(address, options);

const fileOf = (address: string): string => address.slice('sqlite:'.length);

/** Is it the address of a file that is not there? */
export const isMissing = (address: string | undefined): boolean =>
  address !== undefined && schemeOf(address) === 'sqlite:' && !existsSync(fileOf(address));

/** What a process publishes whose limiters people look at. */
export const publishing = (serves: boolean) => ({ definitions: serves, usage: serves, denials: serves });

/** A command that looks at a store would find an empty one. */
async function openMemory(address: string, { serves }: Opening): Promise<Opened> {
  if (!serves)
    throw new CliError(
      'The memory of this command is empty.',
      'Name the store of your processes, for example: --store sqlite:limits.db',
    );
  const store = memoryStore({ definitions: true, usage: true });
  return { store: store as SharedStore & typeof store, address, close: () => store.close() };
}

async function openSqlite(address: string, { creates, serves }: Opening): Promise<Opened> {
  const file = fileOf(address);
  // SQLite would make an empty one.
  if (!creates && isMissing(address))
    throw new CliError(`There is no file ${file}.`, 'For example: --store sqlite:/var/lib/app/limits.db');
  const { sqliteStore } = await import('@sluice/sqlite');
  const store = sqliteStore({ file, ...publishing(serves) });
  return {
    store,
    entries: store.entries,
    address: file,
    examine: ({ scan = false }) => examineSqlite(store, scan),
    close: () => store.close(),
  };
}

async function openPostgres(url: string, opening: Opening): Promise<Opened> {
  const { table: name = 'sluice', creates, serves } = opening;
  const [, schema, table] = /^(?:([^.]+)\.)?([^.]+)$/.exec(name) ?? [];
  if (table === undefined)
    throw new CliError(
      `--table takes a name, or schema.name, not ${name}.`,
      'For example: --table limits.sluice',
    );
  const { postgresStore } = await import('@sluice/postgres');
  const store = postgresStore({ url, table, schema, create: creates, listen: serves, ...publishing(serves) });
  const address = store.health.address()!;
  const examine = async (options: DoctorOptions) => {
    const { examinePostgres } = await import('./doctor/postgres/examine.js');
    return examinePostgres({ url, address, table, schema }, options);
  };
  return { store, entries: store.entries, address, examine, close: () => store.close() };
}

/** The token comes from the environment: a command line is visible to other users. */
async function openUpstash(url: string, { serves }: Opening): Promise<Opened> {
  const { upstashStore } = await import('@sluice/upstash');
  try {
    const store = upstashStore({ url, ...publishing(serves) });
    return { store: store as SharedStore & typeof store, address: url, close: () => store.close() };
  } catch (error) {
    throw new CliError((error as Error).message, 'For example: --store https://eu1-name.upstash.io');
  }
}
