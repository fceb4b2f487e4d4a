import type { SharedKeys } from '../engine/call.js';
import { RateNotSetError } from '../errors.js';
import type { RateAnswer, RateChange, StoredRate } from './rate-change.js';

interface Kept extends StoredRate {
  /** Which setting of the rate this is; see `engine/key-state.ts`. */
  readonly era: number;
  /** The moment from which it is forgotten. */
  until: number;
}

/** From so many rates on it is worth looking whether some are to be forgotten. */
const MANY = 1000;

/** The shared rates of a memory store; `shared-rate.lua` does the same in Redis. */
export class StoredRates {
  readonly #rates = new Map<string, Kept>();
  #sweepAt = MANY;
  #eras = 0;

  get size(): number {
    return this.#rates.size;
  }

  /** @throws RateNotSetError when there is none */
  get({ config: key, name }: SharedKeys, now: number): Kept {
    const rate = this.#live(key, now);
    if (rate === undefined) throw new RateNotSetError(name);
    return rate;
  }

  /** It is in use, at the latest at this moment: now, or when somebody who waits will have his permits. */
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
    if (action === 'update') {
      const { era, until, keepAlive } = before!;
      this.#rates.set(key, { ...rate, era, until: Math.max(now, until - keepAlive) + rate.keepAlive });
    } else {
      this.#eras += 1;
      this.#rates.set(key, { ...rate, era: this.#eras, until: now + rate.keepAlive });
    }
    this.#sweep(now);
    return { changed: true, rate };
  }

  clear(): void {
    this.#rates.clear();
  }

  #live(key: string, now: number): Kept | undefined {
    const rate = this.#rates.get(key);
    if (rate !== undefined && rate.until > now) return rate;
    this.#rates.delete(key);
    return undefined;
  }

  /** Names that nobody uses any more go, each time that there are twice as many as were left the last time. */
  #sweep(now: number): void {
    if (this.#rates.size < this.#sweepAt) return;
    for (const key of this.#rates.keys()) this.#live(key, now);
    this.#sweepAt = Math.max(MANY, 2 * this.#rates.size);
  }
}
