import { StoreConfigurationError } from '@sluice/core';

/** What a store needs of an open database: those of all four drivers have it. */
export interface Database {
  exec(sql: string): unknown;
  prepare(sql: string): Statement;
  close(): unknown;
}

export interface Statement {
  /** All rows, because libsql's `get` leaves the statement open, and so the process in the past. */
  all(...values: readonly unknown[]): unknown[];
  run(...values: readonly unknown[]): unknown;
}

/** A module that opens SQLite files. */
export type DriverName = 'better-sqlite3' | 'libsql' | 'bun:sqlite' | 'node:sqlite';

/** Opens a file. */
export type OpenFile = (file: string) => Database;

interface Driver {
  readonly name: DriverName;
  load(): Promise<OpenFile>;
}

type Constructor = new (file: string, options?: object) => Database;

/** In this order the first one that the program has is taken: `node:sqlite` prints a warning in some versions of Node.js. */
const DRIVERS: readonly Driver[] = [
  classOf('bun:sqlite', 'Database'),
  classOf('better-sqlite3', 'default'),
  classOf('libsql', 'default'),
  classOf('node:sqlite', 'DatabaseSync'),
];

function classOf(name: DriverName, member: string): Driver {
  const load = async (): Promise<OpenFile> => {
    const loaded: Record<string, Constructor> = await import(name);
    const open: OpenFile = (file) => new loaded[member]!(file);
    // better-sqlite3 loads its native part only now: it may be missing, or built for another version of Node.js.
    open(':memory:').close();
    return open;
  };
  return { name, load };
}

/**
 * Loads the first driver that the program has.
 * @throws StoreConfigurationError that names what to install
 */
export async function loadDriver(): Promise<{ readonly name: DriverName; readonly open: OpenFile }> {
  const causes: unknown[] = [];
  for (const { name, load } of DRIVERS) {
    try {
      return { name, open: await load() };
    } catch (error) {
      causes.push(error);
    }
  }
  throw new StoreConfigurationError(
    'sqliteStore: there is no driver for SQLite: install better-sqlite3 or libsql, use Node.js 22.13 or newer, which has ' +
      'node:sqlite, or give sqliteStore a function `open`',
    { cause: new AggregateError(causes, 'no driver could be loaded') },
  );
}
