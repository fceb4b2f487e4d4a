import { StoreConfigurationError, StoreUnavailableError } from '@sluice/core';
import { clearTimeout, type MaybePromise, setTimeout, unref } from '@sluice/core/internal';
import { type Changes, type EntryTable, type KeptEntry, liveAt, type OpenKeys } from './entry-table.js';

/** ms between two sweeps of the table, which one process makes for all, and between two steps of it. */
const [SWEEP, STEP] = [60_000, 10];
/** ms until a process first looks whether it may sweep: many live for less than a minute. */
const FIRST_LOOK = 1_000;
const SWEEPING = 'sluice:sweeping';

/** Opens keys and keeps what `change` returns. @throws StoreUnavailableError, StoreConfigurationError */
export type ChangeEntries = (
  keys: readonly string[],
  change: (open: OpenKeys) => readonly KeptEntry[],
) => Promise<void>;

/** The table of a store from its first call until it is closed: what it needs is loaded, and expired entries are swept away. */
export class TableInUse {
  closed = false;
  readonly #name: string;
  readonly #table: EntryTable;
  #sweeping: NodeJS.Timeout | undefined;

  constructor(
    name: string,
    table: EntryTable,
    /** Modules that must load before the first call. */
    readonly loading: Promise<unknown> | undefined,
  ) {
    this.#name = name;
    this.#table = table;
  }

  /** @throws StoreUnavailableError if it was closed */
  checkOpen(): void {
    if (!this.closed) return;
    throw new StoreUnavailableError(`${this.#name}Store: it was closed`, {
      reason: 'closed',
      neverSent: true,
    });
  }

  /** See `EntryTable`. Waits for nothing that must load. */
  decide(keys: readonly string[], decide: (open: OpenKeys) => Changes, waits: boolean): MaybePromise<void> {
    this.#sweeping ??= this.#sweepIn(FIRST_LOOK);
    return this.#table.change(keys, decide, waits);
  }

  readonly change: ChangeEntries = async (keys, change) => {
    this.checkOpen();
    await this.loading;
    try {
      await this.decide(keys, (open) => ({ changed: change(open), grants: false }), true);
    } catch (error) {
      throw this.errorOf(error);
    }
  };

  /** See `EntryTable`. */
  readonly keysAfter = async (key: string, most: number): Promise<readonly string[]> => {
    this.checkOpen();
    await this.loading;
    return this.#table.keysAfter(key, most);
  };

  /** A foreign value at a key is no fault of the caller. */
  errorOf(error: unknown): unknown {
    if (!(error instanceof RangeError)) return error;
    const message = `${this.#name}Store: a key of this limit holds a foreign value`;
    return new StoreConfigurationError(message, { cause: error });
  }

  /** Reads a key, and keeps the entry that `update` returns as well. */
  async update<T>(
    key: string,
    update: (
      live: KeptEntry | undefined,
      now: number,
    ) => readonly [result: T, changed?: KeptEntry | undefined],
  ): Promise<T> {
    let result: T;
    await this.change([key], (open) => {
      const [made, changed] = update(liveAt(open, key), open.now);
      result = made;
      return changed === undefined ? [] : [changed];
    });
    return result!;
  }

  /**
   * Resolves to true for the first caller, and to false for others until `ms` are over.
   * @param longest ms: a claim that lasts longer than this is from before the clock went back, and ends
   */
  claim(key: string, ms: number, longest = Number.POSITIVE_INFINITY): Promise<boolean> {
    return this.update(key, (live, now) => {
      if (live !== undefined && live.expires - now <= longest * 1000) return [false];
      return [true, { key, entry: Buffer.alloc(0), expires: now + ms * 1000 }];
    });
  }

  #sweepIn(ms: number): NodeJS.Timeout {
    return unref(setTimeout(() => void this.#sweep(ms === STEP), ms));
  }

  async #sweep(goesOn: boolean): Promise<void> {
    let hasMore = false;
    try {
      hasMore = (goesOn || (await this.claim(SWEEPING, SWEEP, SWEEP))) && (await this.#table.sweep());
    } catch {} // calls that need the table get this error
    if (!this.closed) this.#sweeping = this.#sweepIn(hasMore ? STEP : SWEEP);
  }

  async connect(): Promise<void> {
    await this.loading;
    this.checkOpen();
    await this.#table.connect();
  }

  async close(): Promise<void> {
    this.closed = true;
    clearTimeout(this.#sweeping);
    await this.#table.close();
  }
}
