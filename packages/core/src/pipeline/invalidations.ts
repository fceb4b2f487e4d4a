import { performance } from '#platform';
import type { Operation } from '../call/call.js';
import { type Call, storageKey } from '../call/call.js';
import { charCodeAt } from '../runtime.js';

/** Operations after which a key may pass at another moment than a denial said. */
const INVALIDATES: readonly Operation[] = ['refund', 'block', 'extend-block', 'override', 'reset', 'settle'];

/** A power of two. Keys share counters, so a denial may be removed too early, but never too late. */
const COUNTERS = 1024;

/** Counts the operations of this process in one store that may change when a key passes. */
export class Invalidations {
  readonly #counts = new Uint32Array(COUNTERS);
  readonly #latest = new Float64Array(COUNTERS);

  count(counter: number): number {
    return this.#counts[counter]!;
  }

  /** The last `add`, ms of the monotonic clock; 0 without one. */
  latest(counter: number): number {
    return this.#latest[counter]!;
  }

  /** Call it at the start of a call and again at its end: a denial already in flight was decided before the change. */
  add({ operation, parts }: Call): void {
    if (!INVALIDATES.includes(operation)) return;
    const now = performance.now();
    for (const part of parts) {
      const counter = counterOf(storageKey(part));
      this.#counts[counter]! += 1;
      this.#latest[counter] = now;
    }
  }
}

/** The counter of a storage key. */
export function counterOf(key: string): number {
  let hash = 0;
  for (let i = 0; i < key.length; i += 1) hash = (Math.imul(hash, 31) + charCodeAt(key, i)) | 0;
  return hash & (COUNTERS - 1);
}
