import { StoreConfigurationError } from '@sluice/core';
import type { Database, OpenFile, Statement } from './drivers.js';
import { isBusy, NotOpenedError } from './errors.js';
import { networkDiskOf } from './network-disk.js';

/** `PRAGMA application_id` of our files: 'Slce'. */
const APPLICATION = 0x536c6365;
const SET_UP = `
  CREATE TABLE IF NOT EXISTS sluice (key TEXT PRIMARY KEY, entry BLOB NOT NULL, expires INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  PRAGMA application_id = ${APPLICATION};
`;

/** A row of a result. */
export type Row = Readonly<Record<string, unknown>>;

/** The statements of a table. */
export interface Statements {
  readonly begin: Statement;
  readonly commit: Statement;
  readonly rollback: Statement;
  readonly read: Statement;
  readonly write: Statement;
  readonly remove: Statement;
  readonly keysAfter: Statement;
  readonly step: Statement;
  readonly sweep: Statement;
  readonly sweepRest: Statement;
  /** A number that changes with each transaction of another connection. */
  readonly version: Statement;
  /** The number of turns that have admitted waiting calls. */
  readonly grants: Statement;
}

/** A file that is open, and is ours. */
export interface OpenedFile {
  readonly database: Database;
  readonly statements: Statements;
}

/**
 * Opens a file, and makes our table in it.
 * @throws StoreConfigurationError for a file of another program, or one that processes cannot share; NotOpenedError; errors of the driver
 */
export function openTable(file: string, open: OpenFile): OpenedFile {
  const disk = networkDiskOf(file);
  if (disk !== undefined)
    throw new StoreConfigurationError(
      `sqliteStore: ${file} is on a network file system (${disk}), where processes cannot share it: use a file on a disk of this machine`,
    );
  const database = opened(file, open);
  try {
    return { database, statements: prepared(database, file) };
  } catch (error) {
    database.close();
    throw error;
  }
}

function opened(file: string, open: OpenFile): Database {
  try {
    return open(file);
  } catch (cause) {
    if (isBusy(cause)) throw cause;
    throw new NotOpenedError((cause as Error).message, { cause });
  }
}

function prepared(database: Database, file: string): Statements {
  database.exec('PRAGMA busy_timeout = 0');
  checkOurs(database, file);
  const [{ journal_mode: mode }] = database.prepare('PRAGMA journal_mode = WAL').all() as [Row];
  if (mode !== 'wal')
    throw new StoreConfigurationError(
      `sqliteStore: ${file} cannot be shared by processes (journal mode ${mode}): use a file on a disk of this machine`,
    );
  database.exec('PRAGMA synchronous = NORMAL');
  database.exec('BEGIN IMMEDIATE');
  try {
    database.exec(SET_UP);
    database.exec('COMMIT');
  } catch (error) {
    try {
      database.exec('ROLLBACK');
    } catch {} // a full disk has ended the transaction already
    throw error;
  }
  const of = (sql: string) => database.prepare(sql);
  return {
    begin: of('BEGIN IMMEDIATE'),
    commit: of('COMMIT'),
    rollback: of('ROLLBACK'),
    read: of('SELECT entry, expires FROM sluice WHERE key = ?'),
    write: of(
      'INSERT INTO sluice VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE SET entry = excluded.entry, expires = excluded.expires',
    ),
    remove: of('DELETE FROM sluice WHERE key = ?'),
    keysAfter: of('SELECT key FROM sluice WHERE key > ? ORDER BY key LIMIT ?'),
    step: of('SELECT key FROM sluice WHERE key > ? ORDER BY key LIMIT 1 OFFSET ?'),
    sweep: of('DELETE FROM sluice WHERE key > ? AND key <= ? AND expires <= ?'),
    sweepRest: of('DELETE FROM sluice WHERE key > ? AND expires <= ?'),
    version: of('PRAGMA data_version'),
    grants: of('PRAGMA user_version'),
  };
}

/** @throws StoreConfigurationError for a file of another program */
function checkOurs(database: Database, file: string): void {
  // In this order: another process may set the file up meanwhile, in one transaction.
  const [{ tables }] = database.prepare('SELECT count(*) AS tables FROM sqlite_schema').all() as [Row];
  const [{ application_id: application }] = database.prepare('PRAGMA application_id').all() as [Row];
  if (application === APPLICATION) return;
  if (application !== 0 || tables !== 0)
    throw new StoreConfigurationError(
      `sqliteStore: ${file} belongs to another program: give sqliteStore a file of its own`,
    );
}
