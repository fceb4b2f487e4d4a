import type { Rule } from '../algorithms/algorithm.js';
import type { Clock } from '../clock.js';
import { MAX_MICROS } from '../duration.js';
import type { StoreUnavailableError } from '../errors.js';

/** How an `acquire` waits for the permits of a part. */
export interface Booking {
  /** µs: a waiting call passes this much later than its permits are back, if the call's `wait` is long enough. */
  readonly margin: number;
  /** µs: also this much later than the waiting call before it. */
  readonly gap: number;
  /** A call is denied that would be one more of those that wait for the key. */
  readonly maxWaiting: number;
}

export const PLAIN_BOOKING: Booking = { margin: 0, gap: 0, maxWaiting: Number.MAX_SAFE_INTEGER };

/** The most calls that wait for a key, because each call reads and writes all bookings. */
export const MOST_BOOKED = 1000;

/** The options of a limiter for calls that wait. */
export interface WaitingOptions {
  /** µs; undefined: by what the sleeps of this process end late. */
  readonly margin: number | undefined;
  /** µs; undefined: the margin. */
  readonly gap: number | undefined;
  readonly maxWaiting: number | undefined;
}

/** µs; the largest margin that is not set. */
const LONGEST_MARGIN = 50_000;
/** It takes at most 1 part in 20 of the rate. */
const PART = 20;
/** A call is late when it wakes up, and as late again on its way to the network. */
const TWICE = 2;

/** How the calls of a limit wait. */
export class BookingRules {
  #last = PLAIN_BOOKING;
  #lastCost = 0;
  /** µs; `LONGEST_MARGIN` or less. */
  readonly #most: number;

  constructor(
    readonly rule: Rule,
    readonly options: WaitingOptions,
  ) {
    this.#most = isSpaced(rule) ? 0 : Math.min(LONGEST_MARGIN, Math.floor(rule.window / PART));
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

/** What all keys of a limit have in common: one object for all its calls. Stores read only the rule and where its states are stored. */
export interface Limit {
  readonly rule: Rule;
  /** A storage key is `prefix`, the part's key, `suffix`. */
  readonly prefix: string;
  readonly suffix: string;
  /** For a rate that lives in the store: where. The rule has no parameters then. */
  readonly shared?: SharedKeys | undefined;
  /** Its name in decisions. */
  readonly name: string;
  /** Its name in its limiter. */
  readonly policy: string;
  /** How its calls wait. */
  readonly waiting?: BookingRules | undefined;
  /** How it decides while its store is out. Without it, calls reject. */
  readonly fallback?: FallbackLimit | undefined;
  /** Its prefetched permits, if it has the option. */
  readonly prefetch?: Prefetched | undefined;
  /** With an escalation: what decides calls that are not enforced, whose denials do not count. */
  readonly shadow?: Pick<Limit, 'rule' | 'fallback'> | undefined;
  /** Thresholds to report. */
  readonly notify?: Thresholds | undefined;
}

/** Where a shared rate is stored. */
export interface SharedKeys {
  /** For errors. */
  readonly name: string;
  /** The key of the rate. */
  readonly config: string;
  /** Where the state of this client is stored, if each client has the rate for itself. */
  readonly client: string;
}

/** How a limiter decides while its store is out. */
export type FailureChoice = 'local' | 'allow' | 'deny';

export interface FallbackLimit {
  /** `'local'`: this process decides by itself. */
  choose(error: StoreUnavailableError): FailureChoice;
  /** The limit of this process alone. */
  readonly limit: Limit;
}

/** The prefetched permits of a limit; see `PermitPools`. */
export interface Prefetched {
  /** Gives everything back, and prefetches nothing from now on. */
  close(): Promise<void>;
}

/** The thresholds of one policy. */
export interface Thresholds {
  /** The names of its limiter and, there, of the policy. */
  readonly limiter: string;
  readonly policy: string;
  /** The start of the storage keys that say which thresholds were reported. */
  readonly prefix: string;
  readonly suffix: string;
  /** Ascending, in hundredths of a percent. */
  readonly levels: readonly number[];
}
