import type { DecisionMessage } from '@sluice/core';
import type { Seconds } from './messages.js';

/** The most seconds that are kept. */
const KEPT = 180;
/** The most limiters that are counted: names can come from requests. */
const MOST_LIMITERS = 1000;

type Pair = [allowed: number, denied: number];

/** Counts the decisions of this process in each second. */
export class Decisions {
  readonly #counts = new Map<string, Pair[]>();
  #current = new Map<string, Pair>();
  #end = Date.now();
  #watched = 0;

  readonly add = (message: DecisionMessage): void => {
    const { limiter, result } = message;
    if (result !== 'allowed' && result !== 'denied') return;
    let pair = this.#current.get(limiter);
    if (pair === undefined) {
      if (this.#current.size >= MOST_LIMITERS) return;
      pair = [0, 0];
      this.#current.set(limiter, pair);
    }
    pair[result === 'allowed' ? 0 : 1] += 1;
  };

  /** Ends a second. @returns its counts */
  next(): Seconds {
    const counts: Record<string, Pair[]> = {};
    for (const [limiter, pair] of this.#current) {
      counts[limiter] = [pair];
      if (!this.#counts.has(limiter) && this.#counts.size < MOST_LIMITERS) this.#counts.set(limiter, []);
    }
    for (const [limiter, pairs] of this.#counts) {
      pairs.push(this.#current.get(limiter) ?? [0, 0]);
      if (pairs.length > KEPT) pairs.shift();
      if (pairs.every(([allowed, denied]) => allowed + denied === 0)) this.#counts.delete(limiter);
    }
    this.#current = new Map();
    this.#end = Date.now();
    this.#watched = Math.min(KEPT, this.#watched + 1);
    return { end: this.#end, watched: 1, counts };
  }

  /** All seconds that are kept. */
  get kept(): Seconds {
    return { end: this.#end, watched: this.#watched, counts: Object.fromEntries(this.#counts) };
  }
}
