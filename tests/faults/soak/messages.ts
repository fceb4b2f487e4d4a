/** What the soak tells the program under test. */
export type Order =
  /** Opens all its limiters, on servers at this address, and has them called until it is to end. */
  | { readonly order: 'live'; readonly url: string; readonly guestUrl: string }
  /** The faults are over: waits until Redis decides for every limiter, then ends all calls and closes everything. */
  | { readonly order: 'end' };

/** How one kind of call went. */
export interface Tally {
  asked: number;
  /** Answered by Redis, or done. */
  redis: number;
  /** Answered by the failure policy. */
  degraded: number;
  /** Refused, each for a reason that this kind of call may have. */
  refused: number;
  /** ms, of those that were answered: the longest beyond what the call was given to wait. */
  slowest: number;
}

/** What was left of a life of the program. */
export interface Remains {
  /** MB of JavaScript heap in use when all was closed: the least of several samples, each after a collection. */
  readonly heap: number;
  readonly resources: readonly string[];
  /** On the client that was lent to a store, more than there were before. */
  readonly clientListeners: number;
  /** On the AbortSignals that callers used. */
  readonly signalListeners: number;
  /** Calls that never settled. */
  readonly unsettled: readonly string[];
  readonly tallies: Readonly<Record<string, Tally>>;
  readonly events: Readonly<Record<'degraded' | 'recovered' | 'storeError', number>>;
  /** MB, while it lived: after a collection, at even intervals. */
  readonly heaps: readonly number[];
  /** The first complaint of each kind. */
  readonly wrong: readonly string[];
}
