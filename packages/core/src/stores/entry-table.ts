import type { MaybePromise } from '../maybe-promise.js';

/** What a table keeps of a key. */
export interface KeptEntry {
  readonly key: string;
  /** See `encodeEntry`. Undefined: nothing; the key is removed. */
  readonly entry: Buffer | undefined;
  /** µs of the table's clock: from then on the entry counts for nothing, and may be swept away. */
  readonly expires: number;
}

/**
 * Keys that are decided together. No other process changes them until `keep` or `drop`, or `keep` notices it: locks and compare-and-swap
 * are both right.
 */
export interface OpenKeys {
  /** The moment of the decisions: µs of the table's clock, read after the last lock. */
  readonly now: number;
  /** Of the keys that have one. */
  readonly entries: ReadonlyMap<string, KeptEntry>;
  /** Keeps all of them, or none: `'again'` if another process was faster. */
  keep(changed: readonly KeptEntry[]): MaybePromise<'kept' | 'again'>;
  /** Ends it without a change. */
  drop(): MaybePromise<void>;
}

/**
 * Where entries are stored, and what a store of entries needs of it. It decides nothing.
 * @throws StoreUnavailableError, StoreConfigurationError from each method
 */
export interface EntryTable {
  /** @param waits may it wait for another process? Otherwise it throws, or answers at once */
  open(keys: readonly string[], waits: boolean): MaybePromise<OpenKeys>;
  /** Calls `changed` soon after another process has changed the table. @returns what ends that */
  watch(changed: () => void): () => void;
  /** Removes some expired entries. @returns how many */
  sweep(): MaybePromise<number>;
  /** Opens the database now, instead of at the first call. */
  connect(): Promise<void>;
  close(): MaybePromise<void>;
}
