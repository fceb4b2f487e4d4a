import type { StateView } from '../decision.js';
import type { Cell } from './cell.js';
import type { Parameters, Size, State } from './state.js';

/** What users see of an algorithm. */
export interface Figures {
  /** Names of the parameters, in order. Times are µs. */
  readonly parameterNames: readonly string[];
  /** The figures for these parameters, which may come from an override instead of a policy in code. */
  size(parameters: Parameters): Size;
  /** The state as people picture it, for `debug`. */
  view(parameters: Parameters, state: State | undefined, now: number): StateView;
  /**
   * For algorithms whose permits return one by one at a known rate: µs until more than `remaining` permits are left, never too
   * early. `remaining` and `reset` are the results of `usage`. Default: `reset`.
   */
  more?(parameters: Parameters, remaining: number, reset: number): number;
  /** Are permits counted in windows that begin and end, so that a part of the limit is reached once in each? Default: no. */
  readonly hasWindows?: true;
}

/** How calls in `acquire` wait. Each function has a default. */
export interface BookingFacet {
  /** If permits are due later than `consume` would get them, or at an exact moment: µs until then. Default: `wait`. */
  acquireWait?(parameters: Parameters, state: State | undefined, now: number, cost: number): number;
  /**
   * If `acquire` accepts a cost above the capacity and waits until that many permits have flowed in: the shortest wait for such a
   * cost, µs, even if nothing was taken. 0 for a cost within the capacity.
   */
  saving?(parameters: Parameters, cost: number): number;
  /** The state after a call took the permits that it had booked for `now`. The state before may have expired. Default: `take`. */
  book?(parameters: Parameters, state: State | undefined, now: number, cost: number): State;
  /** Does the first call of a full key begin a window, or start the ticks? Then a later call can delay fewer bookings. Default: no. */
  anchored?(parameters: Parameters): boolean;
  /** For policies that bound the wait: the longest, µs. */
  maxWait?(parameters: Parameters, cost: number): number;
}

/** How a state counts under other parameters. Each function has a default. */
export interface OverrideFacet {
  /** The state after a call that other parameters allowed: at most one whole limit is missing under these. Default: `take`. */
  absorb?(parameters: Parameters, state: State | undefined, now: number, cost: number): State;
  /** For rules with a calendar: the parameters of an override, with the calendar of the `policy`. Default: the parameters themselves. */
  complete?(parameters: Parameters, policy: Parameters): Parameters;
  /** The state with the same count under `to`. Default: the same state. */
  translate?(from: Parameters, to: Parameters, state: State, now: number): State;
}

/** For permits that may be taken from the store before they are used. */
export interface PrefetchFacet {
  /**
   * Parameters under which calls that use permits up to `micros` later are never more than `parameters` allow, and the longest time (µs)
   * for which that holds. `undefined`: no such parameters exist.
   */
  narrow(parameters: Parameters, micros: number): Prefetched | undefined;
  /** If that time ends sooner: µs from `now` for which permits prefetched at `now` may be used. `reset` is from the answer. */
  usableFor?(parameters: Parameters, now: number, reset: number): number;
}

/** The same answers, sooner. */
export interface SpeedFacet {
  /**
   * For states of two to four numbers: decides a `consume` in place, exactly as `normalize`, `wait`, `take` and `usage` would.
   * @returns false, with nothing changed, if these must decide
   */
  step?(parameters: Parameters, cell: Cell, now: number, cost: number): boolean;
  /**
   * For algorithms with a `take-run.lua`, which decides equal calls of a key at once: calls `each` with what is left after each of
   * `count` equal calls in a row that were allowed.
   */
  expandRun?(
    parameters: Parameters,
    cost: number,
    count: number,
    run: Run,
    each: (remaining: number, reset: number) => void,
  ): void;
  /** For states of more than a few numbers: their bytes in Redis when the limit is used up. */
  bytes?(parameters: Parameters): number;
}

export interface Prefetched {
  readonly parameters: Parameters;
  readonly longest: number;
}

/** How `take-run.lua` describes equal calls in a row that were allowed. */
export interface Run {
  /** Permits left after the first. */
  readonly remaining: number;
  /** µs from now: until every permit is back; for a bucket, until the last tick. */
  readonly first: number;
  /** For a bucket: units that were missing before. */
  readonly owed: number;
}

/**
 * Permits that a call holds until it releases them or its lease ends. Each holder and each waiting call has an id, which takes the place
 * of the moment `at` in `refund`. Ids grow, and are close to the moment of the call.
 */
export interface Holders {
  /** The last id given. */
  last(state: State): number;
  /** The state with one more call waiting for `cost` permits; the same state if too many wait. @param most may wait, if the policy lets more */
  join(parameters: Parameters, state: State | undefined, now: number, cost: number, most?: number): State;
  /** Renews the lease of `id`, and drops the leases that have ended. */
  renew(parameters: Parameters, state: State, now: number, id: number): State;
  /** Does `id` hold its permits (1), wait for them (0), or is it unknown (-1)? */
  holderStatus(state: State, id: number): 1 | 0 | -1;
  /** µs until the waiting call `id` gets its permits if no call releases any: leases end; and about when, at the pace of the holders. */
  remainingWait(
    parameters: Parameters,
    state: State,
    now: number,
    id: number,
  ): { readonly wait: number; readonly estimate: number };
  /** Drops leases that have ended, and gives free permits to waiting calls, first come, first served. */
  promote(
    parameters: Parameters,
    state: State,
    now: number,
  ): { readonly state: State | undefined; readonly granted: readonly number[] };
}
