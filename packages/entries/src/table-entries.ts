import type { KeptEntry, OpenKeys } from './entry-table.js';
import { liveAt, NEVER_EXPIRES } from './entry-table.js';
import type { ChangeEntries } from './table-in-use.js';

/** An entry outside its store: the same bytes in every store. */
export interface StoredEntry {
  readonly key: string;
  readonly entry: Buffer;
  /** µs for which it still counts; `Infinity` for an entry that stays, such as the text of a rule. */
  readonly left: number;
}

export interface PutOptions {
  /** Replace entries that the store has? Otherwise they stay as they are. */
  readonly overwrites: boolean;
  /** Write nothing, and return what would be written? */
  readonly dryRun?: boolean | undefined;
}

/**
 * The entries of a store as they are, to carry them to another one.
 * @throws StoreUnavailableError, StoreConfigurationError from each method
 */
export interface StoredEntries {
  /** The store's clock, µs since 1970. */
  now(): Promise<number>;
  /**
   * Each entry that counts, of the keys that begin with `prefix`: a page at a time, so that their number does not matter. An entry that is
   * written meanwhile may be missing, or come twice.
   */
  pages(prefix: string): AsyncIterable<readonly StoredEntry[]>;
  /** Writes entries, each with the time that it has left. @returns the number of entries that were written */
  put(entries: readonly StoredEntry[], options: PutOptions): Promise<number>;
}

/** Keys of one page, and entries that are written in one transaction: others want the table too. */
const PAGE = 500;

/** The entries of a table. */
export class TableEntries implements StoredEntries {
  readonly #change: ChangeEntries;
  readonly #keysAfter: (key: string, most: number) => Promise<readonly string[]>;

  constructor(change: ChangeEntries, keysAfter: (key: string, most: number) => Promise<readonly string[]>) {
    this.#change = change;
    this.#keysAfter = keysAfter;
  }

  now(): Promise<number> {
    return this.#read(['sluice:now'], ({ now }) => now);
  }

  async *pages(prefix: string): AsyncGenerator<readonly StoredEntry[]> {
    let keys: readonly string[] = [prefix];
    while (keys.length > 0) {
      keys = (await this.#keysAfter(keys.at(-1)!, PAGE)).filter((key) => key.startsWith(prefix));
      if (keys.length > 0) yield this.#read(keys, (open) => keys.flatMap((key) => storedAt(open, key)));
    }
  }

  async #read<T>(keys: readonly string[], read: (open: OpenKeys) => T): Promise<T> {
    let result: T;
    await this.#change(keys, (open) => {
      result = read(open);
      return [];
    });
    return result!;
  }

  async put(entries: readonly StoredEntry[], options: PutOptions): Promise<number> {
    let written = 0;
    for (let from = 0; from < entries.length; from += PAGE)
      written += await this.#putTogether(entries.slice(from, from + PAGE), options);
    return written;
  }

  /** A source may give a key twice: the last entry counts. */
  async #putTogether(given: readonly StoredEntry[], { overwrites, dryRun }: PutOptions): Promise<number> {
    const entries = new Map(given.map((one) => [one.key, one]));
    let written: readonly KeptEntry[] = [];
    await this.#change([...entries.keys()], (open) => {
      written = [...entries.values()]
        .filter(({ key }) => overwrites || liveAt(open, key) === undefined)
        .map(({ key, entry, left }) => ({ key, entry, expires: Math.min(open.now + left, NEVER_EXPIRES) }));
      return dryRun ? [] : written;
    });
    return written.length;
  }
}

function storedAt(open: OpenKeys, key: string): StoredEntry[] {
  const { entry, expires } = liveAt(open, key) ?? {};
  if (entry === undefined) return [];
  return [{ key, entry, left: expires === NEVER_EXPIRES ? Number.POSITIVE_INFINITY : expires! - open.now }];
}
