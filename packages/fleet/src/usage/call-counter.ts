import type { TopKeys } from '@sluice/core';
import { hashCounted } from './counted-key.js';
import { sampleHash } from './key-sample.js';
import type { LimiterUsage } from './limiter-usage.js';
import type { Result } from './result-slots.js';
import type { StoreUsage } from './store-usage.js';
import { topKeys } from './top-keys.js';
import { OTHER_LIMITERS } from './usage-summary.js';

/** Counts the calls of one limiter. Limiters of the same name count together. */
export class CallCounter {
  #usage: LimiterUsage | undefined;

  constructor(
    readonly store: StoreUsage,
    readonly limiter: string,
  ) {}

  count(result: Result, shadow: boolean): void {
    const usage = this.#current();
    usage.active = true;
    (shadow ? usage.shadow : usage.enforce).count(result);
  }

  /** Permits of a key were taken. @param key may be a view of a longer string */
  took(key: string, cost: number): void {
    const usage = this.#current();
    if (cost > 0) usage.costly.current.add(this.#scoped(usage, key), cost);
  }

  /**
   * A call was denied, or would have been.
   * @param key may be a view of a longer string
   * @param policy that denied it, by its name in the limiter; undefined for a single policy
   */
  denied(key: string, shadow: boolean, policy?: string): void {
    const usage = this.#current();
    const scoped = this.#scoped(usage, key);
    (shadow ? usage.shadowDenied : usage.denied).current.add(scoped, 1, policy);
    if (!shadow) usage.recentlyDenied.current.add(scoped, 1);
  }

  /**
   * A key met a policy.
   * @param policy its name in the limiter; empty for a single policy
   * @param share of the limit that the key uses now, 0 to 1
   */
  used(key: string, policy: string, share: number, shadow: boolean): void {
    const usage = this.#current();
    usage.active = true;
    (shadow ? usage.shadowKeyUse : usage.keyUse)?.current.add(sampleHash(key), policy, share);
  }

  topKeys(): TopKeys {
    const usage = this.#current();
    const shown = this.store.keys === 'hash' ? hashCounted : undefined;
    return topKeys(
      this.store.summaryOf(usage),
      shown,
      usage.name === OTHER_LIMITERS ? this.limiter : undefined,
    );
  }

  #current(): LimiterUsage {
    if (this.#usage === undefined || this.#usage.dropped) this.#usage = this.store.of(this.limiter);
    return this.#usage;
  }

  #scoped(usage: LimiterUsage, key: string): string {
    return usage.name === OTHER_LIMITERS ? `${this.limiter} ${key}` : key;
  }
}
