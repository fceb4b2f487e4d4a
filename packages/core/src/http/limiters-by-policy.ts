import type { Policy } from '../algorithms/algorithm.js';
import { fixedWindow } from '../algorithms/fixed-window/fixed-window.js';
import { LimiterClosedError } from '../errors.js';
import { layersOf } from '../limiter/limiter-layers.js';
import { checkLimiterOptions, type LimiterPlace } from '../limiter/limiter-options.js';
import { RateLimiter } from '../limiter/rate-limiter.js';
import { RecentMap } from '../limiter/recent-map.js';
import { memoryStore } from '../stores/memory/memory-store.js';
import type { Store } from '../stores/store.js';
import { type Limited, limitedBy } from './limited.js';
import type { Policies } from './request-limit-options.js';

/** Numbers that are in use at once; a program that makes up new ones for each request must not fill the memory. */
const MOST = 1000;

/** Any policy: to check the rest of a limiter's options before there is one. */
const ANY_POLICY = fixedWindow({ limit: 1, window: 1 });

export type Given = { readonly policy: Policy } | { readonly policies: Policies };

/**
 * The limiters of one place, one for each policy by its value. They have one name and one store, so what somebody used is
 * the same to all of them: to those with the same algorithm, whatever its numbers.
 */
export class LimitersByPolicy {
  readonly #place: LimiterPlace;
  readonly #ownStore = memoryStore();
  readonly #layers: Store;
  /** By their policies as text. */
  readonly #made = new RecentMap<string, Limited & { readonly limiter: RateLimiter }>(
    MOST,
    ({ limiter }) => RateLimiter.inside(limiter).busy,
  );
  #closed = false;

  /** @throws RangeError, TypeError naming the option of the place that is wrong */
  constructor(place: LimiterPlace) {
    const checked = checkLimiterOptions({ ...place, policy: ANY_POLICY });
    const { name, store = this.#ownStore } = checked;
    this.#place = { ...place, name, store };
    this.#layers = layersOf(store, checked);
  }

  /** @throws RangeError, TypeError naming what is wrong in the policy */
  of(given: Given): Limited {
    if (this.#closed) throw new LimiterClosedError(`Limiter '${this.#place.name}' was closed`);
    const value = JSON.stringify(given);
    let made = this.#made.get(value);
    if (made === undefined) {
      const limiter = new RateLimiter({ ...this.#place, ...given }, this.#layers);
      made = { ...limitedBy(limiter), limiter };
      this.#made.set(value, made);
    }
    return made;
  }

  get store(): Store {
    return this.#place.store!;
  }

  get size(): number {
    return this.#made.size;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#made.values().map(({ limiter }) => limiter.close()));
    await this.#ownStore.close();
  }
}
