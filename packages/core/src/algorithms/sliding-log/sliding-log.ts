import { type Duration, exactLength, toMicros } from '../../duration.js';
import { checkInteger, checkOptions } from '../../options.js';
import type { Algorithm, Policy } from '../algorithm.js';
import { notePeriod, type PolicyKind, shareOfLimit } from '../policy-kind.js';
import { runningLog } from './running-log.js';

/** The numbers of `slidingLog`. */
export interface SlidingLogOptions {
  /**
   * Permits in any window: a whole number from 0 (closed: every call is denied) to 10,000. Each call in the window takes 16 bytes,
   * and each decision reads and writes them all (1 ms of Redis's time for 10,000). For more use `slidingWindow`.
   */
  readonly limit: number;
  /** The length of the window that ends with each call. */
  readonly window: Duration;
}

/** What `slidingLog` returns. */
export interface SlidingLogPolicy extends Policy {
  readonly algorithm: 'slidingLog';
  readonly limit: number;
  /** Milliseconds. */
  readonly window: number;
}

export const MAX_LIMIT = 10_000;

/**
 * Remembers when each permit went: never more than `limit` in any window of length `window`, to the microsecond, and
 * never a denial without need.
 * @throws RangeError naming the number that is not acceptable
 */
export function slidingLog(options: SlidingLogOptions): SlidingLogPolicy {
  checkOptions('slidingLog', options, ['limit', 'window']);
  const limit = checkInteger('slidingLog: limit', options.limit, 0);
  if (limit > MAX_LIMIT) {
    throw new RangeError(
      `slidingLog: limit must be at most ${MAX_LIMIT}, not ${limit}: every call of the window is read and written with ` +
        'each decision. Use slidingWindow for large limits: its memory does not grow with the limit',
    );
  }
  const window = toMicros('slidingLog: window', options.window) / 1000;
  const policy: SlidingLogPolicy = { algorithm: 'slidingLog', limit, window };
  return notePeriod(policy, 'window', options.window);
}

const log = runningLog('sl');

/** State: see `runningLog`; exact timestamps. Parameters: [limit, window (µs)]. A large shared rate uses slots. */
export const slidingLogAlgorithm: Algorithm = {
  ...log,
  speed: { ...log.speed, bytes: ([limit = 0]) => 16 * (Math.min(limit, MAX_LIMIT) + 1) },
};

export const slidingLogKind: PolicyKind<SlidingLogPolicy, SlidingLogOptions> = {
  name: 'slidingLog',
  page: 'sliding-log',
  options: {
    limit: { type: 'count', sample: '10' },
    window: { type: 'duration', sample: '10s' },
  },
  create: slidingLog,
  text: ({ limit, window }) => `${limit} in any ${exactLength(window)}`,
  shareOf: shareOfLimit,
  compile({ algorithm: _, ...options }) {
    const { limit, window: ms } = slidingLog(options);
    const window = toMicros('slidingLog: window', ms);
    return { algorithm: slidingLogAlgorithm, parameters: [limit, window], limit, window };
  },
};
