import fs from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Database, DriverName } from './drivers.js';

/** What can be said of a file and its disk, for `sluice doctor`. Sizes are bytes. */
export interface SqliteFacts {
  /** The module that opens the file; undefined with the option `open`. */
  readonly driver: DriverName | undefined;
  /** Of SQLite, such as `3.46.1`. */
  readonly version: string;
  readonly journalMode: string;
  readonly fileSize: number;
  /** Of the journal (WAL), whose content is not in the file yet. */
  readonly journalSize: number;
  /** Undefined where it cannot be known. */
  readonly disk: { readonly size: number; readonly free: number } | undefined;
  /** What `PRAGMA quick_check` found wrong, '' for nothing; undefined without a scan. */
  readonly damage: string | undefined;
}

/** Reads the facts of an open file. @param scan also read the whole file for damage? */
export function factsOf(
  database: Database,
  file: string,
  driver: DriverName | undefined,
  scan: boolean,
): SqliteFacts {
  const answerTo = (sql: string): string => {
    const [row] = database.prepare(sql).all() as Readonly<Record<string, unknown>>[];
    return String(Object.values(row ?? {})[0]);
  };
  const checked = scan ? answerTo('PRAGMA quick_check(1)') : undefined;
  return {
    driver,
    version: answerTo('SELECT sqlite_version()'),
    journalMode: answerTo('PRAGMA journal_mode'),
    fileSize: sizeOf(file),
    journalSize: sizeOf(`${file}-wal`),
    disk: diskOf(file),
    damage: checked === 'ok' ? '' : checked,
  };
}

const sizeOf = (file: string): number => fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0;

function diskOf(file: string): SqliteFacts['disk'] {
  try {
    const { bsize, blocks, bavail } = fs.statfsSync(dirname(resolve(file)));
    return { size: bsize * blocks, free: bsize * bavail };
  } catch {
    return undefined; // not every platform and runtime can tell
  }
}
