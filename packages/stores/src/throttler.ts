import { isLimiterClosedError, isStoreUnavailableError, memoryStore } from '@sluice/core';
import { countedLimit, hitsOf, resetOf, seconds } from './hits.js';
import { scopedKey } from './host-key.js';
import { checkHostOptions, HostLimiters, type HostStoreOptions } from './store-options.js';

/** What `@nestjs/throttler` reads. Times are seconds. */
export interface ThrottlerRecord {
  readonly totalHits: number;
  readonly timeToExpire: number;
  readonly isBlocked: boolean;
  readonly timeToBlockExpire: number;
}

/** The most lengths of a block that are kept ready. */
const MOST_BLOCKS = 100;

/** The `storage` of `ThrottlerModule`. */
export class ThrottlerStorage {
  readonly #options: HostStoreOptions;
  /** By the length of the block, the least recently used first. */
  readonly #byBlock = new Map<number, HostLimiters>();

  /** @throws RangeError, TypeError naming the invalid option */
  constructor(options: HostStoreOptions) {
    checkHostOptions('throttlerStorage', options);
    // One store for blocks of all lengths.
    this.#options =
      options.store === undefined ? { name: 'throttler', ...options, store: memoryStore() } : options;
    this.#limiters(0);
  }

  /**
   * Counts a hit. The hit above the limit blocks the key for `blockDuration`; after the block the key begins again.
   * @param ttl ms, as `blockDuration`, where 0 blocks until the window ends
   * @throws RangeError for numbers that cannot be counted
   */
  async increment(
    key: string,
    ttl: number,
    limit: number,
    blockDuration: number,
    throttlerName: string,
  ): Promise<ThrottlerRecord> {
    const most = countedLimit(limit);
    const limiter = this.#limiters(blockDuration).get(most, ttl);
    const scoped = scopedKey(throttlerName, key);
    const decision = await limiter.consume(scoped);
    const { allowed, blockedFor, resetAfter, degraded } = decision;
    // A block that ends before its window: the key is then to begin again.
    if (blockedFor !== undefined && resetAfter > blockedFor && !degraded && most > 0) {
      try {
        await limiter.reward(scoped, most);
      } catch (error) {
        // The next denial tries again.
        if (!isStoreUnavailableError(error) && !isLimiterClosedError(error)) throw error;
      }
    }
    return {
      totalHits: hitsOf(decision, most),
      timeToExpire: seconds(resetAfter),
      isBlocked: !allowed,
      timeToBlockExpire: allowed ? 0 : seconds(blockedFor ?? resetOf(decision)),
    };
  }

  /** Nest calls it when an application ends. Another application of the process may use the storage on. */
  async onApplicationShutdown(): Promise<void> {
    const ended = [...this.#byBlock.values()];
    this.#byBlock.clear();
    await Promise.all(ended.map((limiters) => limiters.close()));
  }

  #limiters(blockDuration: number): HostLimiters {
    const block = blockDuration > 0 || Number.isNaN(blockDuration) ? blockDuration : 0;
    const limiters =
      this.#byBlock.get(block) ?? new HostLimiters(this.#options, block === 0 ? undefined : block);
    this.#byBlock.delete(block);
    for (const [oldest, unused] of this.#byBlock) {
      if (this.#byBlock.size < MOST_BLOCKS) break;
      this.#byBlock.delete(oldest);
      void unused.close();
    }
    this.#byBlock.set(block, limiters);
    return limiters;
  }
}

/**
 * A storage of `@nestjs/throttler`: `ThrottlerModule.forRoot({ throttlers, storage: throttlerStorage({ name: 'api', store }) })`.
 * @throws RangeError, TypeError naming the invalid option
 */
export const throttlerStorage = (options: HostStoreOptions = {}): ThrottlerStorage =>
  new ThrottlerStorage(options);
