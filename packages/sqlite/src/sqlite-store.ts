import { type Clock, systemClock } from '@sluice/core';
import { checkOptions, describe } from '@sluice/core/internal';
import { EntryStore, SHARING_OPTIONS, type SharingOptions } from '@sluice/entries';
import type { DriverName, OpenFile } from './drivers.js';
import type { SqliteFacts } from './facts.js';
import { SqliteTable } from './sqlite-table.js';

export interface SqliteStoreOptions extends SharingOptions {
  /** The file, which this store makes. It is for this store alone. */
  readonly file: string;
  /**
   * Opens the file, such as `(file) => new Database(file)`. Default: the first of `bun:sqlite`, `better-sqlite3`, `libsql` and `node:sqlite`
   * that the program has.
   */
  readonly open?: OpenFile | undefined;
  /** For tests: a `ManualClock`. Default: the machine's time. */
  readonly clock?: Clock | undefined;
}

/**
 * Keeps state in a file: all processes of this machine that open it count together, without a server. Counts survive the end of the process;
 * a power cut may take the last moments.
 * @throws TypeError, RangeError for an invalid option
 */
export function sqliteStore(options: string | SqliteStoreOptions): SqliteStore {
  return new SqliteStore(typeof options === 'string' ? { file: options } : options);
}

/** The store that `sqliteStore` returns. */
export class SqliteStore extends EntryStore {
  readonly file: string;
  readonly #table: SqliteTable;

  constructor(options: SqliteStoreOptions) {
    checkOptions('sqliteStore', options, ['file', 'open', 'clock', ...SHARING_OPTIONS]);
    const { file, open, clock } = options;
    if (typeof file !== 'string' || file === '' || file.startsWith(':memory:') || file.startsWith('file:'))
      throw new TypeError(
        `sqliteStore: file must be the path of a file, such as 'limits.db', not ${describe(file)}. To count in this process alone, use memoryStore()`,
      );
    if (open !== undefined && typeof open !== 'function')
      throw new TypeError(
        `sqliteStore: open must be a function, such as (file) => new Database(file), not ${describe(open)}`,
      );
    const table = new SqliteTable(file, clock ?? { now: () => Date.now() * 1_000 }, open);
    const { loading } = table;
    super({ name: 'sqlite', address: file, clock: clock ?? systemClock, table, loading, options });
    this.file = file;
    this.#table = table;
  }

  /** The module that opens the file; undefined until it is loaded, and with `open`. */
  get driver(): DriverName | undefined {
    return this.#table.driver;
  }

  /**
   * What can be said of the file and its disk. Opens it if necessary.
   * @param options `scan`: also read the whole file for damage
   * @throws StoreUnavailableError, StoreConfigurationError
   */
  facts({ scan = false }: { readonly scan?: boolean } = {}): Promise<SqliteFacts> {
    return this.#table.facts(scan);
  }
}
