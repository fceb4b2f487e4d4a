import { performance } from '#platform';
import { type Answer, type Call, type Part, storageKey } from '../call/call.js';
import type { Departure, DepartureDeadline } from '../call/deadlines.js';
import { EVERYONE } from '../call/operation.js';
import { PendingCall, THE_ANSWER } from '../call/pending-call.js';
import { type Clock, unref } from '../clock.js';
import { decodeEntry, type StoredKey } from '../engine/entry.js';
import { ESCALATION_SUFFIX } from '../engine/escalation.js';
import { StoreConfigurationError, StoreUnavailableError } from '../errors.js';
import { StoreHealth } from '../health/store-health.js';
import { getOrCreate } from '../maps.js';
import type { MaybePromise } from '../maybe-promise.js';
import { clearTimeout, setImmediate, setTimeout } from '../native-timers.js';
import { STORE_CALL } from '../telemetry/channels.js';
import type { StoreEvents } from '../telemetry/store-events.js';
import { DecidedTurn, type Granted, keysOf } from './decided-turn.js';
import type { Changes, EntryTable, KeptEntry, OpenKeys } from './entry-table.js';
import { changedRate } from './kept-rate.js';
import type { RateAnswer, RateChange } from './shared-rate.js';
import type { Store } from './store.js';

/** Calls that are decided together at most: others want the table too. */
const MOST = 500;
/** ms between two sweeps of the table, which one process makes for all, and between two steps of it. */
const [SWEEP, STEP] = [60_000, 10];
const SWEEPING = 'sluice:sweeping';

export interface EntryStoreOptions {
  /** For `decision.source` and messages. */
  readonly name: string;
  /** For messages, without a password. */
  readonly address: string;
  readonly clock: Clock;
  readonly table: EntryTable;
  /** Modules that must load before the first call. */
  readonly loading?: Promise<unknown> | undefined;
}

/** Calls that are decided together. */
class Gathered implements Departure {
  readonly calls: PendingCall[] = [];
  readonly began = performance.now();
  readonly localTime: number;
  sent = false;
  hasEnded = false;
  deadline: DepartureDeadline | undefined = undefined;

  constructor(clock: Clock) {
    this.localTime = clock.now();
  }

  each(visit: (call: PendingCall) => void): void {
    for (const call of this.calls) visit(call);
  }

  end(): void {
    for (let one = this.deadline; one !== undefined; one = one.next) one.deadlines.end(one);
  }
}

/**
 * A store over a table of entries, such as a database has: it gathers the calls of a turn, opens their keys, decides, keeps what has
 * changed, and answers only then. One such trip is under way at a time; later calls gather meanwhile.
 */
export class EntryStore implements Store {
  readonly name: string;
  readonly remote = true;
  readonly clock: Clock;
  readonly health: StoreHealth;
  readonly firstConnectionUntil = undefined;
  readonly loading: Promise<unknown> | undefined;
  readonly #table: EntryTable;
  readonly #listeners = new Map<string, Set<(id: number) => void>>();
  #unwatch: (() => void) | undefined;
  #gathered: Gathered[] = [];
  #working: Promise<void> | undefined;
  #sweeping: NodeJS.Timeout | undefined;
  #closed = false;

  constructor({ name, address, clock, table, loading }: EntryStoreOptions) {
    this.name = name;
    this.clock = clock;
    this.#table = table;
    this.loading = loading;
    this.health = new StoreHealth(
      () => undefined,
      () => address,
      name,
    );
  }

  /** Nothing to set: a table has no connection that could be silent. */
  expect(): void {}

  decide(call: Call): Promise<Answer> {
    const pending = PendingCall.of(call);
    const answer = pending.begin(THE_ANSWER);
    this.send(pending);
    return answer;
  }

  readonly send = (call: PendingCall): Departure => {
    let turn = this.#gathered.at(-1);
    if (turn === undefined || turn.calls.length >= MOST) {
      turn = new Gathered(this.clock);
      this.#gathered.push(turn);
    }
    call.departure = turn;
    turn.calls.push(call);
    this.#working ??= new Promise(setImmediate).then(this.#work);
    return turn;
  };

  readonly #work = async (): Promise<void> => {
    for (let turn = this.#gathered.shift(); turn !== undefined; turn = this.#gathered.shift()) {
      await this.#decideTogether(turn);
      // The event loop turns between two trips: a table without a network takes no time in which it could.
      if (this.#gathered.length > 0) await new Promise(setImmediate);
    }
    this.#working = undefined;
  };

  async #decideTogether(gathered: Gathered): Promise<void> {
    const { calls } = gathered;
    const startedAt = STORE_CALL.hasSubscribers ? performance.now() : undefined;
    let ended: (() => void)[];
    let granted: readonly Granted[] = [];
    let failure: unknown;
    try {
      this.#checkOpen();
      const keys = new Set(calls.filter(({ over }) => !over).flatMap(keysOf));
      await this.loading;
      await this.#change([...keys], (open) => {
        const turn = new DecidedTurn(open);
        gathered.sent = true;
        ended = calls.filter(({ over }) => !over).map((call) => this.#decided(turn, call));
        granted = turn.granted;
        return turn.changes;
      });
    } catch (error) {
      failure = error;
      ended = calls.map((call) => () => call.failed(error));
    }
    gathered.end();
    if (startedAt !== undefined) this.#publish(calls.length, startedAt, failure);
    for (const end of ended!) end();
    this.#wake(granted);
  }

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
      const reason = error instanceof RangeError ? foreign(this.name, error) : error;
      return () => call.failed(reason);
    }
  }

  #change(keys: readonly string[], decide: (open: OpenKeys) => Changes, waits = true): MaybePromise<void> {
    this.#sweeping ??= this.#sweepIn(SWEEP);
    return this.#table.change(keys, decide, waits);
  }

  /**
   * Decides at once, for a table that needs no network.
   * @throws StoreUnavailableError if another process has the table; all errors of `decide`
   */
  decideNow(call: Call): Answer {
    this.#checkOpen();
    let answer: Answer;
    let granted: readonly Granted[];
    const decide = (open: OpenKeys): Changes => {
      const turn = new DecidedTurn(open);
      answer = turn.decide(call);
      granted = turn.granted;
      return turn.changes;
    };
    try {
      void this.#change(keysOf(call), decide, false);
    } catch (error) {
      throw error instanceof RangeError ? foreign(this.name, error) : error;
    }
    this.#wake(granted!);
    return answer!;
  }

  #wake(granted: readonly Granted[]): void {
    for (const [key, id] of granted) for (const listener of this.#listeners.get(key) ?? []) listener(id);
  }

  async listen(key: string, granted: (id: number) => void): Promise<() => void> {
    const listeners = getOrCreate(this.#listeners, key, () => new Set<(id: number) => void>());
    listeners.add(granted);
    this.#unwatch ??= this.#table.watch(() => {
      for (const all of this.#listeners.values()) for (const listener of all) listener(EVERYONE);
    });
    return () => {
      listeners.delete(granted);
      if (listeners.size === 0) this.#listeners.delete(key);
      if (this.#listeners.size === 0) this.#endWatch();
    };
  }

  #endWatch(): void {
    this.#unwatch?.();
    this.#unwatch = undefined;
  }

  look(part: Pick<Part, 'limit' | 'key'>, of?: 'escalation'): Promise<StoredKey> {
    const key = storageKey(part) + (of === undefined ? '' : ESCALATION_SUFFIX);
    return this.#update(key, (live, now) => {
      const entry = live?.entry && decodeEntry(live.entry);
      return [{ now, entry, timeToLive: entry && Math.ceil((live!.expires - now) / 1000) }];
    });
  }

  claim(key: string, ms: number): Promise<boolean> {
    return this.#update(key, (live, now) =>
      live === undefined ? [true, { key, entry: Buffer.alloc(0), expires: now + ms * 1000 }] : [false],
    );
  }

  rate(change: RateChange): Promise<RateAnswer> {
    return this.#update(change.key, (live, now) => {
      const { answer, changed } = changedRate(change, live, now);
      return [answer, changed];
    });
  }

  /** Reads a key, and keeps the entry that `update` returns as well. */
  async #update<T>(
    key: string,
    update: (
      live: KeptEntry | undefined,
      now: number,
    ) => readonly [result: T, changed?: KeptEntry | undefined],
  ): Promise<T> {
    this.#checkOpen();
    await this.loading;
    let result: T;
    try {
      await this.#change([key], ({ now, entries }) => {
        const kept = entries.get(key);
        const [made, changed] = update(kept !== undefined && kept.expires > now ? kept : undefined, now);
        result = made;
        return { changed: changed === undefined ? [] : [changed], grants: false };
      });
    } catch (error) {
      throw error instanceof RangeError ? foreign(this.name, error) : error;
    }
    return result!;
  }

  #sweepIn(ms: number): NodeJS.Timeout {
    return unref(setTimeout(() => void this.#sweep(ms === STEP), ms));
  }

  async #sweep(goesOn: boolean): Promise<void> {
    let hasMore = false;
    try {
      hasMore = (goesOn || (await this.claim(SWEEPING, SWEEP))) && (await this.#table.sweep());
    } catch {} // calls that need the table get this error
    if (!this.#closed) this.#sweeping = this.#sweepIn(hasMore ? STEP : SWEEP);
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
    await this.loading;
    this.#checkOpen();
    await this.#table.connect();
  }

  #checkOpen(): void {
    if (!this.#closed) return;
    throw new StoreUnavailableError(`${this.name} store: it was closed`, {
      reason: 'closed',
      neverSent: true,
    });
  }

  /** Calls without an answer reject. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#sweeping);
    this.#endWatch();
    this.health.end();
    await this.#table.close();
    await this.#working; // it may have waited for the table
  }
}

const foreign = (name: string, cause: RangeError): StoreConfigurationError =>
  new StoreConfigurationError(`${name} store: a key of this limit holds a foreign value`, { cause });
