// What an algorithm can do beside deciding. No imports: each would make the longest chain of imports in core longer.

/**
 * Which permits a key has taken: a list of whole numbers. Redis stores them as eight-byte doubles, one after the other. The first is the
 * moment (µs) at which the state expires. An unused key has no list (`undefined`). Permits booked for later are not in the state but in a
 * queue: `engine/wait-queue.ts`.
 */
export type State = readonly number[];

/** The numbers of a policy as the algorithm uses them, in the order of its Lua twin. */
export type Parameters = readonly number[];

/** A wait that never ends: the cost is above what the policy ever has at once. */
export const NEVER = -1;

/** µs: if the clock goes back by at most this, time stands still until it has caught up. Repairing the state each time would give permits away. */
export const JITTER = 10_000;

/** The figures of a policy that users see. */
export interface Size {
  /** The most permits that can be taken at once. */
  readonly limit: number;
  /** µs in which `limit` permits come back. */
  readonly window: number;
}

/** For `refund`: whenever they were taken. */
export const ANY = -1;

export interface Usage {
  readonly remaining: number;
  readonly reset: number;
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
  /** The parameters of an override as a limiter sends them: `given`, with what the policy keeps of its `own`. Default: `given`. */
  keep?(given: Parameters, own: Parameters): Parameters;
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

export interface Prefetched {
  readonly parameters: Parameters;
  readonly longest: number;
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
