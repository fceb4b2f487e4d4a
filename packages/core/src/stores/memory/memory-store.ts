import { hasBackground } from '#platform';
import { MemoryBoard } from '../../board/board.js';
import { type StoreUsage, type UsageOptions, usageOf } from '../../board/watching.js';
import {
  type Answer,
  answerOf,
  type Call,
  isHeld,
  KeyCall,
  type Operation,
  type Part,
  storageKey,
} from '../../call/call.js';
import { type Clock, systemClock, unref } from '../../clock.js';
import { decideBare } from '../../engine/bare.js';
import { decide } from '../../engine/decide.js';
import { type Entry, expiryOf, isEnvelope, keptAt, type StoredKey } from '../../engine/entry.js';
import { ESCALATION_SUFFIX, type EscalationState } from '../../engine/escalation.js';
import { KeyState } from '../../engine/key-state.js';
import { RecentMap } from '../../maps.js';
import { checkBoolean, checkInteger, checkOptions, describe } from '../../options.js';
import { checkNodeVersion } from '../../runtime.js';
import { type RateAnswer, type RateChange, SharedRates } from '../shared-rate.js';
import type { Store } from '../store.js';
import { NONE, Rank } from './records.js';
import { Table } from './table.js';

/** The options of `memoryStore`. */
export interface MemoryStoreOptions {
  /**
   * The most keys to store, from 1 to 16,000,000; default 1,000,000. That many buckets or windows take about 100 MB: 63 bytes each, and the
   * text of the key; logs and slots take more. `memoryStore` says what a full store evicts.
   */
  readonly maxKeys?: number;
  /** Default: the process's monotonic clock. */
  readonly clock?: Clock;
  /**
   * Publish the limiters of this store for tools in this process, such as a dashboard? Default `true`. Followers in this process get its
   * denials in any case.
   */
  readonly definitions?: boolean;
  /** Counts the keys that were denied most, and that took most, for `limiter.topKeys()` and `readUsage(store)`. Default `false`. */
  readonly usage?: boolean | UsageOptions | undefined;
}

/** ms between two sweeps. */
const SWEEP_MS = 1000;
/** Keys looked at in one sweep: bounded, so that a sweep never holds the event loop for more than a few ms. */
const SWEEP_KEYS = 20_000;

const MOST_CLAIMS = 100_000;

/** Operations that block or override a key. Any other, such as a refund, may come from a client. */
const BY_OPERATORS: readonly Operation[] = ['block', 'extend-block', 'override'];

/**
 * Keeps state in this process: fast, lost when the process ends, not shared with other processes. Memory is bounded: at `maxKeys` keys
 * each new key evicts an old one, in constant time. The oldest ordinary keys go first. Next come keys whose last call was denied, at
 * which a call waits, or whose `concurrency` permits are held. Blocked and overridden keys go last. A client that creates `maxKeys`
 * new keys within a window evicts its own first key and gets its limit again, unless that key was denied. If clients choose the
 * keys of a limit, put a limit by address in front of it and set `maxKeys` high enough.
 */
export function memoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  return new MemoryStore(options);
}

/** The store that `memoryStore` returns. */
export class MemoryStore implements Store {
  readonly name = 'memory';
  readonly remote = false;
  readonly clock: Clock;
  readonly fleet: MemoryBoard;
  readonly usage: StoreUsage | undefined;
  readonly #maxKeys: number;
  #table: Table;
  readonly #rates = new SharedRates();
  readonly #listeners = new Map<string, Set<(id: number) => void>>();
  /** Until when each key is claimed, µs. */
  readonly #claims = new RecentMap<string, number>(MOST_CLAIMS, () => false);
  /** Runs while there are keys. Keeps no process alive. */
  #sweeping: NodeJS.Timeout | undefined;
  /** Without a timer: µs of the clock. */
  #sweptAt = 0;

  /** @throws TypeError, RangeError naming a wrong option of `memoryStore` */
  constructor(options: MemoryStoreOptions = {}) {
    checkNodeVersion('memoryStore');
    checkOptions('memoryStore', options, ['maxKeys', 'clock', 'definitions', 'usage']);
    const { clock = systemClock, definitions = true, usage } = options;
    const maxKeys = checkInteger('memoryStore: maxKeys', options.maxKeys ?? 1_000_000, 1, 16_000_000);
    if (typeof clock?.now !== 'function' || typeof clock.sleep !== 'function') {
      throw new TypeError(`memoryStore: clock must have now() and sleep(micros), not ${describe(clock)}`);
    }
    checkBoolean('memoryStore: definitions', definitions);
    this.#maxKeys = maxKeys;
    this.#table = new Table(maxKeys);
    this.clock = clock;
    this.fleet = new MemoryBoard(clock, definitions);
    this.usage = usageOf('memoryStore', usage, this.fleet);
  }

  async claim(key: string, ms: number): Promise<boolean> {
    const now = this.clock.now();
    if ((this.#claims.get(key) ?? 0) > now) return false;
    this.#claims.set(key, now + ms * 1000);
    return true;
  }

  /** Number of keys stored now. */
  get size(): number {
    return this.#table.size;
  }

  decide(call: Call): Answer {
    const now = this.clock.now();
    return this.#step(call, now) ?? this.#decideBare(call, now) ?? this.#decideAll(call, now);
  }

  #step(call: Call, now: number): Answer | undefined {
    if (!(call instanceof KeyCall) || call.operation !== 'consume') return undefined;
    const { rule, shared } = call.limit;
    const step = rule.algorithm.speed?.step;
    if (step === undefined || shared !== undefined) return undefined;
    if (call.several !== undefined || call.traced) return undefined;
    const cell = this.#table.step(step, call, now);
    // A denial has taken nothing, and counts for an escalation.
    if (cell === undefined || (cell.wait !== 0 && rule.escalation !== undefined)) return undefined;
    return answerOf(now, cell.wait, cell.wait === 0 ? now : 0, cell.remaining, cell.reset);
  }

  #decideBare(call: Call, now: number): Answer | undefined {
    const table = this.#table;
    const { limit, key } = call.parts[0]!;
    const slot = table.find(limit.prefix, key);
    const decided = decideBare(call, slot === NONE ? undefined : table.read(slot), now);
    if (decided === undefined) return undefined;
    const { answer, state, changed } = decided;
    const before = slot === NONE ? Rank.ordinary : table.rank(slot);
    const rank = call.operation === 'peek' ? before : answer.allowed ? Rank.ordinary : Rank.denied;
    if (changed || (slot !== NONE && rank > before)) this.#keep(limit.prefix, key, state, rank, now, slot);
    return answer;
  }

  #decideAll(call: Call, now: number): Answer {
    const opened = call.parts.map((part) => this.#open(part, now));
    const keyStates = opened.map(({ keyState }) => keyState);
    const answer = decide(call, keyStates);
    const asks = call.operation === 'consume' || call.operation === 'acquire';
    const byOperator = BY_OPERATORS.includes(call.operation);
    opened.forEach(({ keyState, prefix, key }, i) => {
      const slot = this.#table.find(prefix, key);
      const denied = asks ? !answer.allowed : slot !== NONE && this.#table.rank(slot) === Rank.denied;
      const kept = keyState.keeps(call.operation);
      if (kept || (asks && denied)) {
        const entry = kept ? keyState.entry() : slot === NONE ? undefined : this.#table.read(slot);
        const pinned = slot !== NONE && this.#table.rank(slot) === Rank.pinned;
        const byClient = keyState.escalates && !byOperator && !pinned;
        const held = isHeld(keyState.part) || call.operation === 'hold';
        const rank = rankOf(entry, now, denied || held, byClient);
        this.#keep(prefix, key, entry, rank, now, slot);
        this.#wake(keyState);
      }
      // After the last use of the slot: this may evict its key.
      const { escalation } = keyState;
      if (keyState.escalated) this.#keep(prefix, key + ESCALATION_SUFFIX, escalation, Rank.denied, now);
      const { shared } = keyState.part.limit;
      if (shared !== undefined && call.operation !== 'peek') {
        this.#rates.use(shared, Math.max(now, answer.parts[i]!.at));
      }
    });
    return answer;
  }

  #open(part: Part, now: number) {
    const { shared, prefix } = part.limit;
    const rate = shared && this.#rates.get(shared, now);
    const place = rate?.perClient === 1 ? { prefix: '', key: shared!.client } : { prefix, key: part.key };
    const entry = this.#read(place.prefix, place.key);
    const counted = part.limit.rule.escalation && this.#read(prefix, part.key + ESCALATION_SUFFIX);
    const keyState = new KeyState(part, entry, now, rate, counted as EscalationState | undefined);
    return { keyState, prefix: place.prefix, key: place.key };
  }

  #read(prefix: string, key: string): Entry | undefined {
    const slot = this.#table.find(prefix, key);
    return slot === NONE ? undefined : this.#table.read(slot);
  }

  async listen(key: string, granted: (id: number) => void): Promise<() => void> {
    const listeners = this.#listeners.get(key) ?? new Set();
    this.#listeners.set(key, listeners.add(granted));
    return () => {
      listeners.delete(granted);
      if (listeners.size === 0) this.#listeners.delete(key);
    };
  }

  async look({ limit, key }: Pick<Part, 'limit' | 'key'>, of?: 'escalation'): Promise<StoredKey> {
    const entry = this.#read(limit.prefix, of === undefined ? key : key + ESCALATION_SUFFIX);
    return keptAt(this.clock.now(), entry);
  }

  async rate(change: RateChange): Promise<RateAnswer> {
    return this.#rates.change(change, this.clock.now());
  }

  /** Resolves at once: there is nothing to connect to. */
  async connect(): Promise<void> {}

  async close(): Promise<void> {
    this.#endSweeps();
    this.usage?.close();
    this.fleet.close();
    this.#table = new Table(this.#maxKeys);
    this.#rates.clear();
    this.#listeners.clear();
  }

  #wake({ granted, part }: KeyState): void {
    const listeners = granted.length > 0 ? this.#listeners.get(storageKey(part)) : undefined;
    for (const id of granted) for (const listener of listeners ?? []) listener(id);
  }

  #keep(prefix: string, key: string, entry: Entry | undefined, rank: Rank, now: number, at?: number): void {
    const slot = at ?? this.#table.find(prefix, key);
    if (entry !== undefined && expiryOf(entry) > now) {
      if (slot === NONE) this.#table.add(prefix, key, entry, rank);
      else this.#table.write(slot, entry, rank);
      this.#sweepSoon(now);
    } else if (slot !== NONE) {
      this.#table.remove(slot);
    }
  }

  #sweepSoon(now: number): void {
    if (hasBackground) this.#sweeping ??= unref(setInterval(() => this.#sweep(this.clock.now()), SWEEP_MS));
    else if (now - this.#sweptAt >= SWEEP_MS * 1000) {
      this.#sweptAt = now;
      queueMicrotask(() => this.#sweep(now)); // the table must not change within a decision
    }
  }

  #sweep(now: number): void {
    this.#table.sweep(now, SWEEP_KEYS);
    if (this.#table.roomy) this.#table = this.#table.copy();
    if (this.#table.size === 0) this.#endSweeps();
  }

  #endSweeps(): void {
    clearInterval(this.#sweeping);
    this.#sweeping = undefined;
  }
}

/** @param byClient a client caused the block: it must not push out blocks of operators */
export function rankOf(entry: Entry | undefined, now: number, denied: boolean, byClient: boolean): Rank {
  if (entry !== undefined && isEnvelope(entry)) {
    if ((entry.blockedUntil > now && !byClient) || entry.overrideUntil > now) return Rank.pinned;
    if (entry.queue.length > 0) return Rank.denied;
  }
  return denied ? Rank.denied : Rank.ordinary;
}
