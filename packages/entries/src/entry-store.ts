import type { Clock, Store, StoreEvents, StoreUsage, UsageOptions } from '@sluice/core';
import {
  type Answer,
  type Call,
  checkBoolean,
  type Departure,
  decodeEntry,
  ESCALATION_SUFFIX,
  EVERYONE,
  getOrCreate,
  loadFleet,
  type Part,
  PendingCall,
  type RateAnswer,
  type RateChange,
  type SharedTexts,
  STORE_CALL,
  type StoredKey,
  StoreHealth,
  type StoreWatching,
  storageKey,
  THE_ANSWER,
  usageOf,
} from '@sluice/core/internal';
import { DecidedTurn, type Granted, keysOf } from './decided-turn.js';
import type { Changes, EntryTable, OpenKeys } from './entry-table.js';
import type { Gathered } from './gathered.js';
import { changedRate } from './kept-rate.js';
import { TableBoard } from './table-board.js';
import { type StoredEntries, TableEntries } from './table-entries.js';
import { TableInUse } from './table-in-use.js';
import { TableTexts } from './table-texts.js';
import { TurnQueue } from './turn-queue.js';

export interface EntryStoreOptions {
  /** For `decision.source` and messages. */
  readonly name: string;
  /** For messages, without a password. */
  readonly address: string;
  readonly clock: Clock;
  readonly table: EntryTable;
  /** Modules that must load before the first call. */
  readonly loading?: Promise<unknown> | undefined;
  /** What the user gave. Default: the defaults. */
  readonly options?: SharingOptions | undefined;
}

/** The options of every store that processes share. */
export interface SharingOptions {
  /** Publish the limiters of this process in the store, so that the command `sluice` knows them by name? Default `true`. */
  readonly definitions?: boolean | undefined;
  /**
   * Counts the keys that were denied most, and that took most, for `limiter.topKeys()`. Each process tells the others every 10 s, for
   * `readUsage(store)`. Default `false`.
   */
  readonly usage?: boolean | UsageOptions | undefined;
  /**
   * Sends the denials of this process to `sluice tail` and the live page, while one of them is open. Every two seconds it looks whether there
   * is a reader, and every ten seconds without calls. Needs `definitions`. Default `false`.
   */
  readonly denials?: boolean | undefined;
}

/** The names of `SharingOptions`. */
export const SHARING_OPTIONS = ['definitions', 'usage', 'denials'] as const;

/**
 * A store over a table of entries, such as a database has: it opens the keys of the calls of a turn, decides, keeps what has
 * changed, and answers only then.
 */
export class EntryStore implements Store {
  readonly name: string;
  readonly remote = true;
  readonly clock: Clock;
  readonly health: StoreHealth;
  /** Decides at once. Only a table without a network can. */
  readonly decideNow?: (call: Call) => Answer;
  /** See `Store`. Only a table that watches can. */
  readonly listen?: (key: string, granted: (id: number) => void) => Promise<() => void>;
  readonly fleet: TableBoard;
  readonly usage: StoreUsage | undefined;
  readonly texts: SharedTexts;
  /** The entries as they are, to carry them to another store. */
  readonly entries: StoredEntries;
  readonly send: (call: PendingCall) => Departure;
  /** Without a network nothing is far away, only busy: such a store is given more time before it counts as out. */
  readonly usualDeadline: number | undefined;
  readonly #table: EntryTable;
  readonly #inUse: TableInUse;
  readonly #listeners = new Map<string, Set<(id: number) => void>>();
  #unwatch: (() => void) | undefined;
  readonly #queue: TurnQueue;
  /** Was there a decision, or a `connect`? And one since the denial feed last looked? */
  #used = false;
  #usedLately = false;

  /** @throws TypeError for a wrong option */
  constructor({ name, address, clock, table, loading, options = {} }: EntryStoreOptions) {
    const { definitions = true, usage, denials = false } = options;
    const where = `${name}Store`;
    checkBoolean(`${where}: definitions`, definitions);
    checkBoolean(`${where}: denials`, denials);
    this.name = name;
    this.clock = clock;
    this.usualDeadline = table.network === undefined ? 1_000 : undefined;
    this.#table = table;
    this.#queue = new TurnQueue(clock, this.#decideTogether);
    this.send = this.#queue.add;
    if (table.network === undefined) this.decideNow = this.#decideNow;
    if (table.watch !== undefined) this.listen = this.#listen;
    this.#inUse = new TableInUse(name, table, loading);
    const { change, keysAfter } = this.#inUse;
    this.texts = new TableTexts(change);
    this.entries = new TableEntries(change, keysAfter);
    this.fleet = new TableBoard(change, definitions, () => this.#used);
    this.usage = usageOf(where, usage, this.fleet);
    if (denials) loadFleet<StoreWatching>(`${where}: denials`).sendDenials(this, this.#wasUsedLately);
    this.health = new StoreHealth(
      () => table.network?.connectionError,
      () => address,
      name,
    );
  }

  get loading(): Promise<unknown> | undefined {
    return this.#inUse.loading;
  }

  readonly #wasUsedLately = (): boolean => {
    const used = this.#usedLately;
    this.#usedLately = false;
    return used;
  };

  get firstConnectionUntil(): number | undefined {
    return this.#table.network?.firstConnectionUntil;
  }

  expect(deadline: number): void {
    this.#table.network?.expect(deadline);
  }

  decide(call: Call): Promise<Answer> {
    const pending = PendingCall.of(call);
    const answer = pending.begin(THE_ANSWER);
    this.send(pending);
    return answer;
  }

  readonly #decideTogether = async (turns: readonly Gathered[]): Promise<void> => {
    const calls = turns.flatMap((turn) => turn.calls);
    const startedAt = STORE_CALL.hasSubscribers ? performance.now() : undefined;
    let ended: (() => void)[];
    let granted: readonly Granted[] = [];
    let failure: unknown;
    try {
      this.#inUse.checkOpen();
      const keys = new Set(calls.filter(({ over }) => !over).flatMap(keysOf));
      await this.loading;
      const decide = (open: OpenKeys): Changes => {
        const turn = new DecidedTurn(open);
        for (const one of turns) one.sent = true;
        ended = calls.filter(({ over }) => !over).map((call) => this.#decided(turn, call));
        granted = turn.granted;
        return turn.changes;
      };
      await this.#inUse.decide([...keys], decide, true);
      this.#wasUsed();
    } catch (error) {
      failure = error;
      ended = calls.map((call) => () => call.failed(error));
    }
    for (const turn of turns) turn.end();
    if (startedAt !== undefined) this.#publish(calls.length, startedAt, failure);
    for (const end of ended!) end();
    this.#wake(granted);
  };

  #publish(calls: number, startedAt: number, error: unknown): void {
    const { name: store, health } = this;
    const endedAt = performance.now();
    STORE_CALL.publish({
      store,
      address: health.address(),
      node: undefined,
      calls,
      startedAt,
      endedAt,
      error,
    });
  }

  /** Decides a call. @returns what ends it once the turn is kept */
  #decided(turn: DecidedTurn, call: PendingCall): () => void {
    try {
      const answer = turn.decide(call);
      return () => call.owner.answered(call, answer);
    } catch (error) {
      const reason = this.#inUse.errorOf(error);
      return () => call.failed(reason);
    }
  }

  #wasUsed(): void {
    this.#used = true;
    this.#usedLately = true;
    this.fleet.feed?.start();
  }

  /**
   * Decides at once, for a table that needs no network.
   * @throws StoreUnavailableError if another process has the table; all errors of `decide`
   */
  readonly #decideNow = (call: Call): Answer => {
    this.#inUse.checkOpen();
    let answer: Answer;
    let granted: readonly Granted[];
    const decide = (open: OpenKeys): Changes => {
      const turn = new DecidedTurn(open);
      answer = turn.decide(call);
      granted = turn.granted;
      return turn.changes;
    };
    try {
      void this.#inUse.decide(keysOf(call), decide, false);
    } catch (error) {
      throw this.#inUse.errorOf(error);
    }
    this.#wasUsed();
    this.#wake(granted!);
    return answer!;
  };

  #wake(granted: readonly Granted[]): void {
    for (const [key, id] of granted) for (const listener of this.#listeners.get(key) ?? []) listener(id);
  }

  readonly #listen = async (key: string, granted: (id: number) => void): Promise<() => void> => {
    const listeners = getOrCreate(this.#listeners, key, () => new Set<(id: number) => void>());
    listeners.add(granted);
    this.#unwatch ??= this.#table.watch!(this.#wakeAll);
    return () => {
      listeners.delete(granted);
      if (listeners.size === 0) this.#listeners.delete(key);
      if (this.#listeners.size === 0) this.#endWatch();
    };
  };

  /** All waiting calls look whether they were admitted. */
  readonly #wakeAll = (): void => {
    for (const all of this.#listeners.values()) for (const listener of all) listener(EVERYONE);
  };

  #endWatch(): void {
    this.#unwatch?.();
    this.#unwatch = undefined;
  }

  look(part: Pick<Part, 'limit' | 'key'>, of?: 'escalation'): Promise<StoredKey> {
    const key = storageKey(part) + (of === undefined ? '' : ESCALATION_SUFFIX);
    return this.#inUse.update(key, (live, now) => {
      const entry = live?.entry && decodeEntry(live.entry);
      return [{ now, entry, timeToLive: entry && Math.ceil((live!.expires - now) / 1000) }];
    });
  }

  claim(key: string, ms: number): Promise<boolean> {
    return this.#inUse.claim(key, ms);
  }

  rate(change: RateChange): Promise<RateAnswer> {
    return this.#inUse.update(change.key, (live, now) => {
      const { answer, changed } = changedRate(change, live, now);
      return [answer, changed];
    });
  }

  /** Listens to the events `storeError`, `degraded` and `recovered`; see `StoreEvents`. */
  on<E extends keyof StoreEvents>(event: E, listener: (event: StoreEvents[E]) => void): this {
    this.health.on(event, listener);
    return this;
  }

  /** Removes a listener. */
  off<E extends keyof StoreEvents>(event: E, listener: (event: StoreEvents[E]) => void): this {
    this.health.off(event, listener);
    return this;
  }

  async connect(): Promise<void> {
    await this.#inUse.connect();
    this.#wasUsed();
  }

  /** Calls without an answer reject, and so do waiting calls. */
  async close(): Promise<void> {
    this.#endWatch();
    this.health.end();
    this.usage?.close();
    this.fleet.close();
    const closed = this.#inUse.close();
    this.#wakeAll(); // otherwise they would look after a third of their lease
    await closed;
    await this.#queue.working; // it may have waited for the table
  }
}
