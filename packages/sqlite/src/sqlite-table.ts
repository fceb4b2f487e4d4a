import { type Clock, StoreConfigurationError, StoreUnavailableError } from '@sluice/core';
import { type MaybePromise, setTimeout } from '@sluice/core/internal';
import type { Changes, EntryTable, KeptEntry, OpenKeys } from '@sluice/entries';
import { type Database, type DriverName, loadDriver, type OpenFile } from './drivers.js';
import { classified, codeOf, isBusy, isDamage } from './errors.js';
import { factsOf, type SqliteFacts } from './facts.js';
import { openTable, type Row, type Statements } from './open-table.js';

/** ms: the pauses between tries while another process has the file; the last is repeated. Each gets shorter by up to half, by chance. */
const PAUSES = [0, 1, 2, 4];
/** ms that a call without a promise may block the process for the file. */
const BLOCKS = 5;
/** ms between two looks whether another process has written. */
const LOOK = 5;
/** Entries that one step of a sweep looks at. */
const SWEPT = 1_000;

/** `PRAGMA user_version` has 31 bits. */
const MOST_GRANTS = 2 ** 31;

/** The entries of a file. All processes that open it decide together: `BEGIN IMMEDIATE` lets one at a time. */
export class SqliteTable implements EntryTable {
  /** Undefined if there is nothing to load. */
  readonly loading: Promise<void> | undefined;
  /** The module that opens the file, once it is loaded. */
  driver: DriverName | undefined;
  #openFile: OpenFile | undefined;
  #database: Database | undefined;
  #statements: Statements | undefined;
  /** The key up to which this sweep has looked. */
  #sweptTo = '';
  #closed = false;

  constructor(
    readonly file: string,
    readonly clock: Pick<Clock, 'now'>,
    open: OpenFile | undefined,
  ) {
    this.#openFile = open;
    if (open === undefined) this.loading = this.#load();
    this.loading?.catch(() => {}); // each call rejects with it
  }

  async #load(): Promise<void> {
    const { name, open } = await loadDriver();
    this.driver = name;
    this.#openFile = open;
  }

  async connect(): Promise<void> {
    await this.loading;
    await this.#begun(({ rollback }) => rollback.run());
  }

  /** @throws StoreUnavailableError, StoreConfigurationError */
  async facts(scan: boolean): Promise<SqliteFacts> {
    await this.loading;
    return this.#begun(({ rollback }) => {
      rollback.run(); // looks at the file without keeping others from it
      return factsOf(this.#database!, this.file, this.driver, scan);
    });
  }

  change(keys: readonly string[], decide: (open: OpenKeys) => Changes, waits: boolean): MaybePromise<void> {
    const work = (statements: Statements) => this.#decide(statements, keys, decide);
    const until = performance.now() + BLOCKS;
    for (;;) {
      try {
        return this.#guarded(this.#begin(), work);
      } catch (error) {
        if (!isBusy(error)) throw error;
        if (waits) return this.#begun(work);
        if (performance.now() > until) throw this.#inUse(error);
      }
    }
  }

  #decide(
    { read, write, remove, commit, rollback }: Statements,
    keys: readonly string[],
    decide: (open: OpenKeys) => Changes,
  ): void {
    const entries = new Map<string, KeptEntry>();
    for (const key of keys) {
      const [row] = read.all(key) as { entry: Uint8Array | ArrayBuffer; expires: number }[];
      if (row) entries.set(key, { key, entry: bufferOf(row.entry), expires: row.expires });
    }
    const { changed, grants } = decide({ now: this.clock.now(), entries });
    for (const { key, entry, expires } of changed) {
      if (entry === undefined) remove.run(key);
      else write.run(key, entry, expires);
    }
    if (grants) this.#database!.exec(`PRAGMA user_version = ${(this.#numberOf('grants') + 1) % MOST_GRANTS}`);
    (changed.length === 0 && !grants ? rollback : commit).run();
  }

  /** Works within a transaction, and ends it if that fails. */
  #guarded<T>(statements: Statements, work: (statements: Statements) => T): T {
    try {
      return work(statements);
    } catch (error) {
      try {
        statements.rollback.run();
      } catch {} // some errors have ended the transaction already
      throw codeOf(error) === '' ? error : this.#failed(error);
    }
  }

  /** An error of the driver as one of ours. After damage the next turn opens the file again. */
  #failed(error: unknown): Error {
    if (isDamage(error)) this.#closeFile();
    return classified(error, this.file);
  }

  #inUse(cause: unknown): StoreUnavailableError {
    return new StoreUnavailableError(
      `sqliteStore: ${this.file} is in use by another process for more than ${BLOCKS} ms: use consume, which waits without blocking`,
      { reason: 'timeout', neverSent: true, cause },
    );
  }

  /** Works once this process has the file. Waits for it without blocking the process. */
  async #begun<T>(work: (statements: Statements) => T): Promise<T> {
    for (let tries = 0; ; tries += 1) {
      let statements: Statements | undefined;
      try {
        statements = this.#begin();
      } catch (error) {
        if (!isBusy(error)) throw error;
      }
      if (statements !== undefined) return this.#guarded(statements, work);
      const pause = PAUSES[Math.min(tries, PAUSES.length - 1)]!;
      await new Promise((resolve) => setTimeout(resolve, pause * (1 - Math.random() / 2)));
    }
  }

  #begin(): Statements {
    if (this.#closed)
      throw new StoreUnavailableError('sqliteStore: it was closed', { reason: 'closed', neverSent: true });
    try {
      this.#statements ??= this.#setUp();
      this.#statements.begin.run();
    } catch (error) {
      throw isBusy(error) ? error : this.#failed(error);
    }
    return this.#statements;
  }

  #setUp(): Statements {
    if (this.#openFile === undefined)
      throw new StoreConfigurationError(
        'sqliteStore: its driver is not loaded yet: await store.connect() before the first consumeSync',
      );
    const { database, statements } = openTable(this.file, this.#openFile);
    this.#database = database;
    return statements;
  }

  watch(granted: () => void): () => void {
    let [version, grants] = [this.#numberOf('version'), this.#numberOf('grants')];
    const timer = setInterval(() => {
      const next = this.#numberOf('version');
      if (next === version) return;
      version = next;
      const before = grants;
      grants = this.#numberOf('grants');
      if (grants !== before) granted();
    }, LOOK);
    return () => clearInterval(timer);
  }

  /** Reads without a lock. 0 before the file is open, and if it cannot be read: waiting calls also poll. */
  #numberOf(name: 'version' | 'grants'): number {
    try {
      const [row = {}] = (this.#statements?.[name].all() ?? []) as Row[];
      return Number(Object.values(row)[0] ?? 0);
    } catch {
      return 0;
    }
  }

  keysAfter(key: string, most: number): Promise<readonly string[]> {
    return this.#begun(({ keysAfter, rollback }) => {
      const rows = keysAfter.all(key, most) as { key: string }[];
      rollback.run();
      return rows.map((row) => row.key);
    });
  }

  async sweep(): Promise<boolean> {
    return this.#begun(({ step, sweep, sweepRest, commit }) => {
      const [end] = step.all(this.#sweptTo, SWEPT - 1) as { key: string }[];
      if (end === undefined) sweepRest.run(this.#sweptTo, this.clock.now());
      else sweep.run(this.#sweptTo, end.key, this.clock.now());
      commit.run();
      this.#sweptTo = end?.key ?? '';
      return end !== undefined;
    });
  }

  close(): void {
    this.#closed = true;
    this.#closeFile();
  }

  #closeFile(): void {
    const database = this.#database;
    this.#database = undefined;
    this.#statements = undefined;
    try {
      database?.close();
    } catch {} // its disk may be damaged
  }
}

/** libsql's `all` returns an ArrayBuffer, `node:sqlite` a Uint8Array, others a Buffer. */
const bufferOf = (bytes: Uint8Array | ArrayBuffer): Buffer =>
  bytes instanceof Uint8Array
    ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    : Buffer.from(bytes);
