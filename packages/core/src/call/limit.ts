import type { Rule } from '../algorithms/algorithm.js';
import type { Clock } from '../clock.js';
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
  readonly waiting?: BookingSource | undefined;
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

/** How calls wait for a limit. */
export interface BookingSource {
  of(cost: number, clock: Clock): Booking;
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
