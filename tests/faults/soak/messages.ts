/** An order to the program under test. */
export type Order =
  /** Opens all limiters on the servers at these addresses, and calls them until the next order. */
  | { readonly order: 'live'; readonly url: string; readonly guestUrl: string }
  /** The faults are over: waits until Redis decides for every limiter, then ends all calls and closes everything. */
  | { readonly order: 'end' };

/** The outcomes of one kind of call. */
export interface Tally {
  calls: number;
  /** Calls that Redis answered, or that ran. */
  redis: number;
  /** Calls that the failure policy answered. */
  degraded: number;
  /** Calls that rejected with a permitted error. */
  refused: number;
  /** The longest delay of an answered call beyond its permitted wait, ms. */
  slowest: number;
}

/** What remains after a run of the program. */
export interface Remains {
  /** JavaScript heap in use after closing, MB: the least of several samples, each after a collection. */
  readonly heap: number;
  readonly resources: readonly string[];
  /** Additional listeners on the borrowed client. */
  readonly clientListeners: number;
  /** Listeners on the AbortSignals of callers. */
  readonly signalListeners: number;
  /** Calls that never settled. */
  readonly unsettled: readonly string[];
  readonly tallies: Readonly<Record<string, Tally>>;
  readonly events: Readonly<Record<'degraded' | 'recovered' | 'storeError', number>>;
  /** Heap during the run, MB: after a collection, at even intervals. */
  readonly heaps: readonly number[];
  /** The first complaint of each kind. */
  readonly wrong: readonly string[];
}
