import type { Parameters } from '../algorithms/algorithm.js';
import type { SharedKeys } from '../call/limit.js';
import { RateNotSetError } from '../errors.js';

/** A rate as a store keeps it for all processes. */
export interface StoredRate {
  /** How long it is kept after its last use, µs. */
  readonly keepAlive: number;
  /** 1: each client has the rate for itself; 0: all share it. */
  readonly perClient: 0 | 1;
  readonly parameters: Parameters;
}

/**
 * - `try`: sets the rate if there is none; otherwise this is a use of the rate;
 * - `set`: sets it; permits taken before no longer count;
 * - `update`: changes it, if there is one; permits taken before still count;
 * - `get`: reads it;
 * - `delete`: deletes it and forgets the permits taken.
 */
export interface RateChange {
  readonly action: 'try' | 'set' | 'update' | 'get' | 'delete';
  /** The storage key. */
  readonly key: string;
  /** For the first three. */
  readonly rate?: StoredRate;
}

/** The rate after the change, and whether the change was made. */
export interface RateAnswer {
  readonly changed: boolean;
  readonly rate: StoredRate | undefined;
}

interface KeptRate extends StoredRate {
  /** Which setting of the rate this is; permits taken under another do not count. */
  readonly rateVersion: number;
  /** When it expires, µs. */
  until: number;
}

/** Smallest number of rates at which expired ones are deleted. */
const MANY = 1000;

/** The shared rates of a memory store: the twin of `shared-rate.lua`. */
export class SharedRates {
  readonly #rates = new Map<string, KeptRate>();
  #sweepAt = MANY;
  #versions = 0;

  get size(): number {
    return this.#rates.size;
  }

  /** @throws RateNotSetError if there is none */
  get({ config: key, name }: SharedKeys, now: number): KeptRate {
    const rate = this.#live(key, now);
    if (rate === undefined) throw new RateNotSetError(name);
    return rate;
  }

  /** Keeps the rate alive from its last use: now, or the moment for which a waiting call has booked its permits. */
  use({ config: key }: SharedKeys, moment: number): void {
    const rate = this.#rates.get(key);
    if (rate !== undefined) rate.until = Math.max(rate.until, moment + rate.keepAlive);
  }

  change({ action, key, rate }: RateChange, now: number): RateAnswer {
    const before = this.#live(key, now);
    if (action === 'delete') return { changed: this.#rates.delete(key), rate: undefined };
    if (action === 'try' && before) before.until = Math.max(before.until, now + before.keepAlive);
    const idle = action === 'get' || (action === 'try' && before) || (action === 'update' && !before);
    if (idle || rate === undefined) return { changed: false, rate: before };
    const kept = action === 'update' ? before : undefined;
    if (kept === undefined) this.#versions += 1;
    const { rateVersion, until, keepAlive } = kept ?? {
      rateVersion: this.#versions,
      until: now,
      keepAlive: 0,
    };
    this.#rates.set(key, { ...rate, rateVersion, until: Math.max(now, until - keepAlive) + rate.keepAlive });
    this.#sweep(now);
    return { changed: true, rate };
  }

  clear(): void {
    this.#rates.clear();
  }

  #live(key: string, now: number): KeptRate | undefined {
    const rate = this.#rates.get(key);
    if (rate !== undefined && rate.until > now) return rate;
    this.#rates.delete(key);
    return undefined;
  }

  /** Deletes expired rates, each time their number has doubled. */
  #sweep(now: number): void {
    if (this.#rates.size < this.#sweepAt) return;
    for (const key of this.#rates.keys()) this.#live(key, now);
    this.#sweepAt = Math.max(MANY, 2 * this.#rates.size);
  }
}
