import type { DecisionMessage } from '@sluice/core';
import { ownerOf } from './limiters.js';
import type { Denial, LimiterInfo, Seconds } from './messages.js';
import { shownKey } from './shown-key.js';

/** Seconds that are kept. */
const KEPT = 180;
/** Limiters that are counted: names may come from requests. */
const MOST_LIMITERS = 1000;
/** Keys whose denials are kept. */
const MOST_KEYS = 100;

/** With the key as it is stored. */
type Counted = Omit<Denial, 'key' | 'owner'> & { readonly key: string };
type Pair = [allowed: number, denied: number];

/** What this process decides, second by second. */
export class Decisions {
  readonly #counts = new Map<string, Pair[]>();
  #current = new Map<string, Pair>();
  /** By limiter and key; the key that was denied last is the last one. */
  readonly #denials = new Map<string, Counted>();
  #lastId = 0;
  #end = Date.now();

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
    if (result === 'denied') this.#keep(message);
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
    return { end: this.#end, counts };
  }

  /** All seconds that are kept. */
  get kept(): Seconds {
    return { end: this.#end, counts: Object.fromEntries(this.#counts) };
  }

  /** Keys that were denied after a denial. */
  denialsAfter(id: number, limiters: ReadonlyMap<string, LimiterInfo>): readonly Denial[] {
    const later = [...this.#denials.values()].filter((denial) => denial.id > id);
    return later.map((denial) => ({
      ...denial,
      owner: ownerOf(limiters, denial.limiter, denial.policy),
      key: shownKey(denial.key),
    }));
  }

  get lastId(): number {
    return this.#lastId;
  }

  #keep({ limiter, key, decision, mode }: DecisionMessage): void {
    const { policy, retryAfter } = decision!;
    const id = `${limiter} ${key}`;
    const count = (this.#denials.get(id)?.count ?? 0) + 1;
    this.#lastId += 1;
    this.#denials.delete(id);
    if (this.#denials.size >= MOST_KEYS) this.#denials.delete(this.#denials.keys().next().value!);
    this.#denials.set(id, {
      id: this.#lastId,
      at: Date.now(),
      count,
      limiter,
      policy,
      key,
      retryAfter: Number.isFinite(retryAfter) ? retryAfter : null,
      shadow: mode === 'shadow',
    });
  }
}
