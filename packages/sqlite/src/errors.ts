import { StoreConfigurationError, StoreUnavailableError } from '@sluice/core';

/** SQLite's primary result codes, as `sqlite3.h` numbers them. */
const CODES: Readonly<Record<number, string>> = {
  3: 'SQLITE_PERM',
  5: 'SQLITE_BUSY',
  6: 'SQLITE_LOCKED',
  8: 'SQLITE_READONLY',
  10: 'SQLITE_IOERR',
  11: 'SQLITE_CORRUPT',
  13: 'SQLITE_FULL',
  14: 'SQLITE_CANTOPEN',
  26: 'SQLITE_NOTADB',
};

/** The result code of an error of any driver, without what its extended form adds; '' if it is not SQLite's. */
export function codeOf(error: unknown): string {
  const { code, errcode } = Object(error) as { code?: unknown; errcode?: unknown };
  if (typeof errcode === 'number') return CODES[errcode & 0xff] ?? `SQLITE_${errcode}`;
  return /^SQLITE_[A-Z]+/.exec(String(code))?.[0] ?? '';
}

/** Does another connection have the file? */
export const isBusy = (error: unknown): boolean => /^SQLITE_(?:BUSY|LOCKED)$/.test(codeOf(error));

/** Is the file damaged, or its disk? Only a new connection sees that another file has taken its place. */
export const isDamage = (error: unknown): boolean => /^SQLITE_(?:CORRUPT|IOERR|NOTADB)$/.test(codeOf(error));

/** Does it need a person, rather than time? */
const MISTAKE = /^SQLITE_(?:PERM|READONLY|CANTOPEN|NOTADB)$/;

/** The file could not be opened at all; drivers say so in words of their own. */
export class NotOpenedError extends Error {}

/** An error of a driver, as one of ours. A full disk or a damaged file is an outage: the failure policy decides. */
export function classified(error: unknown, file: string): StoreUnavailableError | StoreConfigurationError {
  if (error instanceof StoreUnavailableError || error instanceof StoreConfigurationError) return error;
  const text = `sqliteStore: ${file}: ${(error as Partial<Error> | undefined)?.message ?? String(error)}`;
  if (error instanceof NotOpenedError || MISTAKE.test(codeOf(error)))
    return new StoreConfigurationError(
      `${text}: give sqliteStore a file that this process may write, in a folder that it may write`,
      { cause: error },
    );
  return new StoreUnavailableError(text, { reason: 'connection', cause: error });
}
