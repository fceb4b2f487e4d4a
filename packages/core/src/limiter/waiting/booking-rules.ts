import type { Rule } from '../../algorithms/algorithm.js';
import { type Booking, MOST_BOOKED, PLAIN_BOOKING } from '../../call/limit.js';
import type { Clock } from '../../clock.js';
import { type Duration, MAX_MICROS, toMicros } from '../../duration.js';
import { checkInteger } from '../../options.js';

/** µs; the largest margin that is not set. */
const MOST = 50_000;
/** It takes at most 1 part in 20 of the rate. */
const PART = 20;
/** A call is late when it wakes up, and as late again on its way to the network. */
const TWICE = 2;

/** The options of a limiter for calls that wait. */
export interface WaitingOptions {
  /** µs; undefined: by what the sleeps of this process end late. */
  readonly margin: number | undefined;
  /** µs; undefined: the margin. */
  readonly gap: number | undefined;
  readonly maxWaiting: number | undefined;
}

/** @throws RangeError */
export function checkWaiting(
  where: string,
  options: {
    readonly margin: Duration | undefined;
    readonly gap?: Duration | undefined;
    readonly maxWaiting: number | undefined;
  },
): WaitingOptions {
  const { margin, gap, maxWaiting } = options;
  if (maxWaiting !== undefined) checkInteger(`${where}: maxWaiting`, maxWaiting, 0, MOST_BOOKED);
  const micros = (name: string, duration: Duration | undefined) =>
    duration === undefined ? undefined : toMicros(`${where}: ${name}`, duration, 0);
  return { margin: micros('margin', margin), gap: micros('gap', gap), maxWaiting };
}

/** How the calls of a limit wait. */
export class BookingRules {
  #last = PLAIN_BOOKING;
  #lastCost = 0;
  /** µs; the largest margin that is not set. */
  readonly #most: number;

  constructor(
    readonly rule: Rule,
    readonly options: WaitingOptions,
  ) {
    this.#most = isSpaced(rule) ? 0 : Math.min(MOST, Math.floor(rule.window / PART));
  }

  /** The same object for equal calls. */
  of(cost: number, clock: Clock): Booking {
    const { limit, window } = this.rule;
    const margin = this.options.margin ?? Math.min(this.#most, TWICE * (clock.lateness?.() ?? 0));
    const { maxWaiting = PLAIN_BOOKING.maxWaiting } = this.options;
    if (margin !== this.#last.margin || maxWaiting !== this.#last.maxWaiting || cost !== this.#lastCost) {
      // Calls that start apart arrive apart. A whole limit still passes in each window.
      const pace = Math.floor((cost * (window - margin)) / Math.max(1, limit));
      this.#last = { margin, gap: Math.max(0, Math.min(this.options.gap ?? margin, pace)), maxWaiting };
      this.#lastCost = cost;
    }
    return this.#last;
  }
}

/** The queue of a leaky bucket is as long as its calls take to leave: a margin between them would leave room for fewer calls. */
const isSpaced = ({ algorithm, parameters }: Rule): boolean =>
  (algorithm.booking?.maxWait?.(parameters, 1) ?? MAX_MICROS) < MAX_MICROS;
