import type { MaybePromise } from '@sluice/core/internal';

/** The `expires` of an entry that stays. */
export const NEVER_EXPIRES = Number.MAX_SAFE_INTEGER;

/** What a table keeps of a key. */
export interface KeptEntry {
  readonly key: string;
  /** See `encodeEntry`. Undefined: nothing; the key is removed. */
  readonly entry: Buffer | undefined;
  /** µs of the table's clock: from then on the entry counts for nothing, and may be swept away. */
  readonly expires: number;
}

/** The keys of a turn, which no other process changes until the decisions are kept. */
export interface OpenKeys {
  /** The moment of the decisions: µs of the table's clock, read after the last lock. */
  readonly now: number;
  /** Of the keys that have one. */
  readonly entries: ReadonlyMap<string, KeptEntry>;
}

/** The entry of a key that counts; undefined if there is none. */
export function liveAt({ now, entries }: OpenKeys, key: string): KeptEntry | undefined {
  const kept = entries.get(key);
  return kept !== undefined && kept.expires > now ? kept : undefined;
}

/** An entry that is a text; '' if there is none. */
export const textAt = (open: OpenKeys, key: string): string => liveAt(open, key)?.entry?.toString() ?? '';

/** What a turn makes of its keys. */
export interface Changes {
  readonly changed: readonly KeptEntry[];
  /** Were waiting calls admitted? Other processes should look. */
  readonly grants: boolean;
}

/** Of a table behind a network. Its `change` always waits, so its store has no `consumeSync`. */
export interface TableNetwork {
  /** For a table that was never connected: until then calls wait for it, ms of the monotonic clock; see `Store`. */
  readonly firstConnectionUntil: number | undefined;
  /** The last error, while there is no connection. */
  readonly connectionError: Error | undefined;
  /** Tells how long calls wait for an answer, ms. */
  expect(deadline: number): void;
}

/**
 * Where entries are stored. It decides nothing.
 * @throws StoreUnavailableError, StoreConfigurationError from each method
 */
export interface EntryTable {
  readonly network?: TableNetwork | undefined;
  /**
   * Opens keys, lets `decide` decide, and keeps all that it changes, or nothing if it throws. Locks and compare-and-swap are both right: if
   * another process was faster, `decide` is called again.
   * @param waits may it wait for another process? Otherwise it returns no promise
   */
  change(keys: readonly string[], decide: (open: OpenKeys) => Changes, waits: boolean): MaybePromise<void>;
  /**
   * Calls `granted` soon after another process has kept a turn that grants, or whenever it may have missed one. Without it calls that wait poll
   * more often. @returns a function that ends that
   */
  watch?(granted: () => void): () => void;
  /**
   * The next keys in the order of their bytes, also of expired entries.
   * @param key the keys after this one
   * @param most as many at most
   */
  keysAfter(key: string, most: number): MaybePromise<readonly string[]>;
  /** Removes the expired ones of the next thousand entries or so, a step that no call notices. @returns whether there are more to look at */
  sweep(): MaybePromise<boolean>;
  /** Opens the database now, instead of at the first call. */
  connect(): Promise<void>;
  close(): MaybePromise<void>;
}
