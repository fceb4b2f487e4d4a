import type { UsageOptions } from '../../board/watching.js';
import { type Clock, systemClock } from '../../clock.js';
import { checkBoolean, checkInteger, checkOptions, describe } from '../../options.js';
import { checkNodeVersion } from '../../runtime.js';

/** The options of `memoryStore`. */
export interface MemoryStoreOptions {
  /**
   * The most keys to store, from 1 to 16,000,000; default 1,000,000. That many buckets or windows take about 100 MB: 63 bytes each, and the
   * text of the key; logs and slots take more. `memoryStore` says what a full store evicts.
   */
  readonly maxKeys?: number;
  /** Default: the process's monotonic clock. */
  readonly clock?: Clock;
  /**
   * Publish the limiters of this store for tools in this process, such as a dashboard? Default `true`. Followers in this process get its
   * denials in any case.
   */
  readonly definitions?: boolean;
  /** Counts the keys that were denied most, and that took most, for `limiter.topKeys()` and `readUsage(store)`. Default `false`. */
  readonly usage?: boolean | UsageOptions | undefined;
}

/** With the defaults. @throws TypeError, RangeError naming a wrong option of `memoryStore` */
export function checkedMemoryOptions(options: MemoryStoreOptions) {
  checkNodeVersion('memoryStore');
  checkOptions('memoryStore', options, ['maxKeys', 'clock', 'definitions', 'usage']);
  const { clock = systemClock, definitions = true, usage } = options;
  const maxKeys = checkInteger('memoryStore: maxKeys', options.maxKeys ?? 1_000_000, 1, 16_000_000);
  if (typeof clock?.now !== 'function' || typeof clock.sleep !== 'function') {
    throw new TypeError(`memoryStore: clock must have now() and sleep(micros), not ${describe(clock)}`);
  }
  checkBoolean('memoryStore: definitions', definitions);
  return { maxKeys, clock, definitions, usage };
}
