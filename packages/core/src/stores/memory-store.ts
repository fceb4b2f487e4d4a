import type { State } from '../algorithms/algorithm.js';
import { type Clock, systemClock } from '../clock.js';
import { checkInteger, checkOptions, describe } from '../options.js';
import type { Answer, Call, Store } from './store.js';

export interface MemoryStoreOptions {
  /** The most keys to remember; default 1,000,000 (about 130 MB). When full, see `memoryStore`. */
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
 * keys each new one displaces an old one: an expired one or else one that is not being denied, as long as such a one is near.
 */
export function memoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  return new MemoryStore(options);
}

export class MemoryStore implements Store {
  readonly name = 'memory';
  readonly remote = false;
  readonly clock: Clock;
  readonly #maxKeys: number;
  readonly #states = new Map<string, State>();
  /** Keys whose last call was denied: forgetting one would let an attacker in again. */
  readonly #denied = new Set<string>();
  #sweeper: NodeJS.Timeout | undefined;
  #sweepFrom: Iterator<[string, State]> | undefined;

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
    return this.#states.size;
  }

  async decide(call: Call): Promise<Answer> {
    const now = this.clock.now();
    const { key, rule, operation } = call;
    const state = this.#states.get(key);
    const step = rule.algorithm.step(rule.parameters, state, now, call);
    if (step.state !== state && operation !== 'peek') this.#save(key, state, step.state, now);
    if (operation === 'consume') this.#note(key, step.allowed);
    return { allowed: step.allowed, remaining: step.remaining, wait: step.wait, reset: step.reset, now };
  }

  async reset(key: string): Promise<void> {
    this.#forget(key);
  }

  async close(): Promise<void> {
    clearInterval(this.#sweeper);
    this.#sweeper = undefined;
    this.#states.clear();
    this.#denied.clear();
  }

  #save(key: string, before: State | undefined, after: State | undefined, now: number): void {
    if (after === undefined) {
      this.#forget(key);
    } else if (before !== undefined) {
      this.#states.set(key, after);
    } else {
      if (this.#states.size >= this.#maxKeys) this.#evict(now);
      this.#states.set(detached(key), after);
      this.#sweeper ??= setInterval(() => this.#sweep(), SWEEP_EVERY_MS).unref();
    }
  }

  #note(key: string, allowed: boolean): void {
    if (!allowed && this.#states.has(key)) this.#denied.add(key);
    else if (this.#denied.size > 0) this.#denied.delete(key);
  }

  #forget(key: string): void {
    this.#states.delete(key);
    this.#denied.delete(key);
  }

  /** Makes room for one: looks at the oldest keys, forgets the first that is expired or not denied; denied ones step back. */
  #evict(now: number): void {
    let looked = 0;
    for (const [key, state] of this.#states) {
      looked += 1;
      if (state[0]! <= now || !this.#denied.has(key) || looked === EVICT_KEYS) {
        this.#forget(key);
        return;
      }
      this.#states.delete(key);
      this.#states.set(key, state);
    }
  }

  #sweep(): void {
    const now = this.clock.now();
    this.#sweepFrom ??= this.#states.entries();
    for (let looked = 0; looked < SWEEP_KEYS; looked += 1) {
      const { done, value } = this.#sweepFrom.next();
      if (done) {
        this.#sweepFrom = undefined;
        break;
      }
      if (value[1][0]! <= now) this.#forget(value[0]);
    }
    if (this.#states.size === 0) {
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
