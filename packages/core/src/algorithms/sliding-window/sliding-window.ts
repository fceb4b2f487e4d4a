import { type Duration, exactLength, MAX_MICROS, toMicros } from '../../duration.js';
import { checkInteger, checkOptions, describe } from '../../options.js';
import type { Algorithm, Policy } from '../algorithm.js';
import { notePeriod, type PolicyKind, shareOfLimit } from '../policy-kind.js';
import { endOfSlot, runningLog } from '../sliding-log/running-log.js';

/** The numbers of `slidingWindow`. */
export interface SlidingWindowOptions {
  /** Permits in any window: a whole number. 0 closes the limit: every call is denied. */
  readonly limit: number;
  /** The length of the window that ends with each call. */
  readonly window: Duration;
  /**
   * Counters for one window: a whole number from 1 to 1,000, and not above the window's microseconds. A permit comes back up to
   * `window / slots` later than necessary. With more slots it comes back sooner, and each takes 16 bytes. Default: 10.
   */
  readonly slots?: number;
}

/** What `slidingWindow` returns. */
export interface SlidingWindowPolicy extends Policy {
  readonly algorithm: 'slidingWindow';
  readonly limit: number;
  /** Milliseconds. */
  readonly window: number;
  readonly slots: number;
}

const MAX_SLOTS = 1_000;

/**
 * Counts permits in slots of time, `slots` to a window; the oldest slot, which the window covers in part, counts whole. So
 * never more than `limit` go in any window of length `window`, in a memory that does not grow with the limit.
 * @throws RangeError naming the number that is not acceptable
 */
export function slidingWindow(options: SlidingWindowOptions): SlidingWindowPolicy {
  checkOptions('slidingWindow', options, ['limit', 'window', 'slots']);
  const limit = checkInteger('slidingWindow: limit', options.limit, 0);
  const micros = toMicros('slidingWindow: window', options.window);
  const { slots = Math.min(10, micros) } = options;
  checkInteger('slidingWindow: slots', slots, 1, MAX_SLOTS);
  if (slots > micros) {
    throw new RangeError(
      `slidingWindow: slots must be at most ${micros}, the microseconds of the window, not ${slots}: use fewer`,
    );
  }
  if (micros + slotLength(micros, slots) > MAX_MICROS) {
    throw new RangeError(
      `slidingWindow: window and one slot of it must be at most 3650 days together, not ${describe(options.window)} ` +
        `with ${slots} slots: use a shorter window`,
    );
  }
  const policy: SlidingWindowPolicy = { algorithm: 'slidingWindow', limit, window: micros / 1000, slots };
  return notePeriod(policy, 'window', options.window);
}

/** Rounded up, so that `slots` of them are no shorter than the window. Quotients of these sizes are exact enough for `ceil`. */
const slotLength = (micros: number, slots: number): number => Math.ceil(micros / slots);

/**
 * State: see `runningLog`, with the end (µs) of the slot of each permit: a permit counts until its whole slot has left the window. These
 * moments mean the same under any slots and windows, so a changed policy need not convert a state.
 * Parameters: [limit, window (µs), length of a slot (µs)]. Slots begin at the multiples of their length since 1970.
 */
export const slidingWindowAlgorithm: Algorithm = {
  ...runningLog('sw'),

  prefetch: {
    // Until its slot ends a permit counts the same whenever it is used.
    narrow: (parameters, micros) => ({ parameters, longest: micros }),
    usableFor: ([, , slot], now) => endOfSlot(slot!, now) - now,
  },
};

export const slidingWindowKind: PolicyKind<SlidingWindowPolicy, SlidingWindowOptions> = {
  name: 'slidingWindow',
  page: 'sliding-window',
  prefetches: true,
  options: {
    limit: { type: 'count', sample: '10' },
    window: { type: 'duration', sample: '10s' },
    slots: { type: 'count', optional: true, sample: '5' },
  },
  create: slidingWindow,
  text: ({ limit, window, slots }) =>
    `${limit} in any ${exactLength(window)}${slots === undefined ? '' : `, ${slots} slots`}`,
  shareOf: shareOfLimit,
  compile({ algorithm: _, ...options }) {
    const { limit, window: ms, slots } = slidingWindow(options);
    const window = toMicros('slidingWindow: window', ms);
    const parameters = [limit, window, slotLength(window, slots)];
    return { algorithm: slidingWindowAlgorithm, parameters, limit, window };
  },
};
