import type { Parameters, Rule, State } from '../algorithms/algorithm.js';
import type { StoreUnavailableError } from '../errors.js';

/**
 * - `consume`: take the permits now, if every part has them;
 * - `acquire`: the same, or book them for the first moment, at most `wait` away, at which every part has them;
 * - `peek`: what `consume` would say; nothing is taken, and nothing written but what the clock or the policy made of the entry;
 * - `charge`: take them, whether they are there or not;
 * - `refund`: give back what was taken or booked at the moments `at`;
 * - `renew`: the holder or waiter `at` is still there;
 * - `block`: nobody may go for `wait` µs from now, 0 to end that;
 * - `override`: other parameters take the place of the rule's for `wait` µs from now, 0 to end that;
 * - `reset`: forget what was taken, booked and blocked.
 */
export type Operation =
  | 'consume'
  | 'acquire'
  | 'peek'
  | 'charge'
  | 'refund'
  | 'renew'
  | 'block'
  | 'override'
  | 'reset';

/** Sent instead of the id of an admitted call: all calls that wait at the key should poll again. */
export const EVERYONE = -1;

/** One question to a store: all its parts are answered alike, at once, or none is. Plain, so that questions can be joined. */
export interface Call {
  readonly operation: Operation;
  /** µs: the longest wait for `acquire`; how long a `block` or an `override` lasts. */
  readonly wait: number;
  readonly parts: readonly Part[];
  /** For `consume` and `peek`: the answer includes a `trace`. */
  readonly traced?: boolean;
}

/** Where a rate that the fleet shares is kept, and what it has to know besides. */
export interface SharedKeys {
  /** For errors. */
  readonly name: string;
  /** The key of the rate. */
  readonly config: string;
  /** Where the state of this client lives, should the rate be one for each client. */
  readonly client: string;
}

/** How a part is decided while its store is out: what the failure policy of its limiter comes down to. */
export interface StandIn {
  /** Who decides: this process by itself, or everything is allowed or denied. */
  choose(error: StoreUnavailableError): 'local' | 'allow' | 'deny';
  /** By what this process decides by itself, in place of the part's own rule. */
  readonly rule: Rule;
}

/** How many permits of a key a process may take that it does not need yet, and for how long it may spend them. */
export interface Prefetch {
  readonly most: number;
  /** µs */
  readonly longest: number;
}

/** One limit that a call is held to. */
export interface Part {
  /** Where the state lives: already encoded and prefixed. */
  readonly key: string;
  /**
   * `key` in two: what all keys of a limit have in common, and the caller's part. To look these up one after the other costs a store in
   * memory a fraction of joining and hashing them with every call. Without them `key` is looked up whole: all parts for one key are alike in this.
   */
  readonly keyspace?: string | undefined;
  readonly id?: string | undefined;
  readonly rule: Rule;
  /** Permits, a whole number ≥ 0. With 0 nothing is taken. */
  readonly cost: number;
  /** For `refund`: the moment (µs) or the holder that an answer named, or `ANY`; for `renew`: the holder. */
  readonly at: number;
  /** For `override`: the parameters that take the place of the rule's. */
  readonly override?: Parameters | undefined;
  /** When the parameters are not the rule's but in the store. */
  readonly shared?: SharedKeys | undefined;
  /** Without it, whoever asks is told that the store is out. */
  readonly standIn?: StandIn | undefined;
  /** With it permits may be taken ahead; one object for all keys of a limit. */
  readonly prefetch?: Prefetch | undefined;
}

/** What a store answers. Times are whole µs of the store's clock. */
export interface Answer {
  /** May it go: now, or after `wait`? For `renew`: does it hold its permits? */
  readonly allowed: boolean;
  /** It stands in line until somebody releases what it waits for, or for `wait`; then it should `renew`. */
  readonly queued: boolean;
  /** The moment of the decision. */
  readonly now: number;
  /** When allowed: until the permits are due. When denied: until a retry can pass; `NEVER`. */
  readonly wait: number;
  readonly parts: readonly PartAnswer[];
}

export interface PartAnswer {
  readonly remaining: number;
  /** Until this part by itself would let the call go; `NEVER`. */
  readonly wait: number;
  /** Until every permit is back. */
  readonly reset: number;
  /** What a `refund` of this taking names: the moment at which the permits are due, or the holder. */
  readonly at: number;
  /** The parameters by which it was decided when they were not the rule's own. */
  readonly override: Parameters | undefined;
  /** Present only if the call requested it. */
  readonly trace?: Trace;
}

/** The inputs and outputs of the decision on one part. */
export interface Trace {
  /** Parameters of the policy, of its override or of a shared rate. */
  readonly parameters: Parameters;
  /** State at the moment of the decision; undefined if no earlier call counts any more. */
  readonly before: State | undefined;
  readonly after: State | undefined;
  /** Moments and costs of the bookings; the end of a block in µs, 0 without one. */
  readonly queue: readonly number[];
  readonly blockedUntil: number;
}
