import { type Clock, systemClock } from '../clock.js';
import { decideBare } from '../decisions/bare.js';
import type { Answer, Call, Part } from '../decisions/call.js';
import { decide } from '../decisions/decide.js';
import { type Entry, expiryOf, isEnvelope } from '../decisions/entry.js';
import { Lane } from '../decisions/lane.js';
import { checkInteger, checkOptions, describe } from '../options.js';
import type { RateAnswer, RateChange } from '../shared-rates/stored-rate.js';
import { StoredRates } from '../shared-rates/stored-rates.js';
import type { Store } from './store.js';

export interface MemoryStoreOptions {
  /** The most keys to remember; default 1,000,000 (about 170 MB of buckets or windows; logs and slots take more). When full, see `memoryStore`. */
  readonly maxKeys?: number;
  /** Default: the process's monotonic clock. */
  readonly clock?: Clock;
}

const SWEEP_EVERY_MS = 1000;
/** Keys looked at in one sweep: bounded, so that a sweep never holds the event loop for more than a few ms. */
const SWEEP_KEYS = 20_000;
/** Keys looked at to find one to forget. */
const EVICT_KEYS = 32;

/**
 * State in this process: fast, gone with the process, and not shared with other processes. Memory is bounded: at `maxKeys`
 * keys each new one displaces an old one: an expired one or else one that is not denied, blocked or overridden, as long as such a one
 * is near.
 */
export function memoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  return new MemoryStore(options);
}

export class MemoryStore implements Store {
  readonly name = 'memory';
  readonly remote = false;
  readonly slotted = false;
  readonly clock: Clock;
  readonly #maxKeys: number;
  readonly #entries = new Map<string, Entry>();
  readonly #rates = new StoredRates();
  readonly #listeners = new Map<string, Set<(id: number) => void>>();
  /** Keys whose last call was denied: forgetting one would let an attacker in again. */
  readonly #denied = new Set<string>();
  #sweeper: NodeJS.Timeout | undefined;
  #sweepFrom: Iterator<[string, Entry]> | undefined;

  constructor(options: MemoryStoreOptions = {}) {
    checkOptions('memoryStore', options, ['maxKeys', 'clock']);
    this.#maxKeys = checkInteger('memoryStore: maxKeys', options.maxKeys ?? 1_000_000, 1, 16_000_000);
    const { clock = systemClock } = options;
    if (typeof clock?.now !== 'function' || typeof clock.sleep !== 'function') {
      throw new TypeError(`memoryStore: clock must have now() and sleep(micros), not ${describe(clock)}`);
    }
    this.clock = clock;
  }

  /** How many keys are remembered now. */
  get size(): number {
    return this.#entries.size;
  }

  decide(call: Call): Answer {
    const now = this.clock.now();
    return this.#decideBare(call, now) ?? this.#decideAll(call, now);
  }

  #decideBare(call: Call, now: number): Answer | undefined {
    const { key } = call.parts[0]!;
    const entry = this.#entries.get(key);
    const decided = decideBare(call, entry, now);
    if (decided === undefined) return undefined;
    const { answer, state, changed } = decided;
    if (call.operation !== 'peek') {
      if (changed) this.#keep(key, state, now, entry !== undefined);
      this.#note(key, answer.allowed);
    }
    return answer;
  }

  #decideAll(call: Call, now: number): Answer {
    const lanes = call.parts.map((part) => this.#lane(part, now));
    const answer = decide(call, lanes, now);
    if (call.operation !== 'peek') {
      lanes.forEach((lane, i) => {
        if (lane.changed) this.#save(lane, now);
        const { shared } = lane.part;
        if (shared !== undefined) this.#rates.use(shared, Math.max(now, answer.parts[i]!.at));
      });
    }
    if (call.operation === 'consume' || call.operation === 'acquire') {
      for (const { key } of lanes) this.#note(key, answer.allowed);
    }
    return answer;
  }

  #lane(part: Part, now: number): Lane {
    const { shared, key } = part;
    if (shared === undefined) return new Lane(part, key, this.#entries.get(key), now);
    const rate = this.#rates.get(shared, now);
    const place = rate.perClient === 1 ? shared.client : key;
    return new Lane(part, place, this.#entries.get(place), now, rate);
  }

  async listen(key: string, granted: (id: number) => void): Promise<() => void> {
    const listeners = this.#listeners.get(key) ?? new Set();
    this.#listeners.set(key, listeners.add(granted));
    return () => {
      listeners.delete(granted);
      if (listeners.size === 0) this.#listeners.delete(key);
    };
  }

  async rate(change: RateChange): Promise<RateAnswer> {
    return this.#rates.change(change, this.clock.now());
  }

  async close(): Promise<void> {
    clearInterval(this.#sweeper);
    this.#sweeper = undefined;
    this.#entries.clear();
    this.#denied.clear();
    this.#rates.clear();
    this.#listeners.clear();
  }

  #save(lane: Lane, now: number): void {
    const { key } = lane;
    this.#keep(key, lane.entry(), now, this.#entries.has(key));
    for (const id of lane.granted) for (const granted of this.#listeners.get(key) ?? []) granted(id);
  }

  #keep(key: string, entry: Entry | undefined, now: number, known: boolean): void {
    if (entry === undefined || expiryOf(entry) <= now) {
      this.#forget(key);
    } else if (known) {
      this.#entries.set(key, entry);
    } else {
      if (this.#entries.size >= this.#maxKeys) this.#evict(now);
      this.#entries.set(detached(key), entry);
      this.#sweeper ??= setInterval(() => this.#sweep(), SWEEP_EVERY_MS).unref();
    }
  }

  #note(key: string, allowed: boolean): void {
    if (!allowed && this.#entries.has(key)) this.#denied.add(key);
    else if (this.#denied.size > 0) this.#denied.delete(key);
  }

  #forget(key: string): void {
    this.#entries.delete(key);
    this.#denied.delete(key);
  }

  /** Makes room for one: looks at the oldest keys, forgets the first that is expired or not denied; denied ones step back. */
  #evict(now: number): void {
    let looked = 0;
    for (const [key, entry] of this.#entries) {
      looked += 1;
      const live = expiryOf(entry) > now;
      if (!live || looked === EVICT_KEYS || !(this.#denied.has(key) || isEnvelope(entry))) {
        this.#forget(key);
        return;
      }
      this.#entries.delete(key);
      this.#entries.set(key, entry);
    }
  }

  #sweep(): void {
    const now = this.clock.now();
    this.#sweepFrom ??= this.#entries.entries();
    for (let looked = 0; looked < SWEEP_KEYS; looked += 1) {
      const { done, value } = this.#sweepFrom.next();
      if (done) {
        this.#sweepFrom = undefined;
        break;
      }
      if (expiryOf(value[1]) <= now) this.#forget(value[0]);
    }
    if (this.#entries.size === 0) {
      clearInterval(this.#sweeper);
      this.#sweeper = undefined;
    }
  }
}

/**
 * A copy that stands by itself. A key put together by concatenation or cut out of a longer text would keep its pieces or the
 * whole text alive for as long as it is remembered. Storage keys are ASCII.
 */
const detached = (key: string): string => Buffer.from(key, 'latin1').toString('latin1');
