import type { StateView } from '../decision.js';

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

/** A policy: the name of an algorithm and its numbers, as plain data. Times are milliseconds. */
export interface Policy {
  readonly algorithm: string;
}

/** A policy, compiled once for limiters and stores. */
export interface Rule extends Size {
  readonly algorithm: Algorithm;
  readonly parameters: Parameters;
  /** Blocks for repeated denials: see `engine/escalation.ts`. */
  readonly escalation?: readonly number[] | undefined;
  /** For rules whose numbers change with time (windows of a calendar): the parameters around the moment `now` (µs). */
  parametersAt?(now: number): Parameters;
  /** For such a rule: which calendar it has, and the parameters without it. An override can change these only. */
  readonly calendar?: { readonly id: string; readonly head: Parameters };
  /** Set by the Redis store: the arguments of a script call for these parameters. */
  text?: { readonly of: Parameters; readonly args: readonly string[] };
  /** Set by the Redis store: its `keyWeight`, µs. */
  weight?: number;
  /** Set by the Redis store: about how many calls have booked permits at a key. */
  booked?: number;
}

/**
 * How a policy decides: once in TypeScript, once in Lua, alike to the microsecond. All functions except `speed.step` are
 * pure. The state they get has not expired at `now` and has been through `normalize`: the only moments after `now` in it are ends.
 *
 * The tag, the figures and five functions are an algorithm. The rest is optional: leave it out at first.
 */
export interface Algorithm {
  /** Two letters: they name the Lua twin, and are part of the storage key, so an algorithm with another state has other keys. */
  readonly tag: string;
  readonly figures: Figures;
  /** The state itself; or, if the clock went back or the policy changed, one that denies calls for no longer than the policy can. */
  normalize(parameters: Parameters, state: State, now: number): State;
  /** µs from `now` until a call can take `cost` ≥ 0 permits, if no other call comes: 0 for now, or `NEVER`. For held permits an estimate. */
  wait(parameters: Parameters, state: State | undefined, now: number, cost: number): number;
  /** The state after a call took `cost` ≥ 1 permits at `now`, allowed or as a penalty. */
  take(parameters: Parameters, state: State | undefined, now: number, cost: number): State;
  /**
   * The state after a refund of permits that were taken at `at`: never above full, and unchanged if they have come back by themselves. `at` is
   * at most `now`, or up to `JITTER` later if the clock jitters. With `at` = `ANY` (a reward) the latest permits come back.
   */
  refund(parameters: Parameters, state: State, now: number, cost: number, at: number): State | undefined;
  /**
   * The state after a refund of permits that were taken at `at` ≤ `now` and at unknown moments after it. In a log the earliest come back, so
   * what stays never leaves sooner than the permits that were used. Default: `refund`.
   */
  refundSince?: Algorithm['refund'];
  /** Whole permits left at `now`, and µs until every permit is back. */
  usage(parameters: Parameters, state: State | undefined, now: number): Usage;
  /** For keys that do not begin full: the state of a new key. */
  initialState?(parameters: Parameters, now: number): State | undefined;
  /** For windows: has the one of the moment `at` ended, or would have if it had begun then? Default: no, so that what was taken then can still be corrected. */
  hasEnded?(parameters: Parameters, now: number, at: number): boolean;
  /** For an `acquire` that differs from a `consume` at a later moment. */
  readonly booking?: BookingFacet;
  /** For states that mean something else under other parameters. */
  readonly override?: OverrideFacet;
  /** For permits that may be taken from the store before they are used. */
  readonly prefetch?: PrefetchFacet;
  /** For what must be fast. */
  readonly speed?: SpeedFacet;
  /** For permits that are held until they are released. */
  readonly holders?: Holders;
}

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

/** The same decisions, sooner. */
export interface SpeedFacet {
  /**
   * For states of two to four numbers: decides a `consume` in place, exactly as `normalize`, `wait`, `take` and `usage` would.
   * @returns false, with nothing changed, if these must decide
   */
  step?(parameters: Parameters, cell: Cell, now: number, cost: number): boolean;
  /**
   * For algorithms with a `take-run.lua`, which decides equal calls of a key at once: calls `each` with the permits left after each of
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

/** How `take-run.lua` describes equal calls in a row that were allowed. */
export interface Run {
  /** Permits left after the first. */
  readonly remaining: number;
  /** µs from now: until every permit is back; for a bucket, until the last tick. */
  readonly first: number;
  /** For a bucket: units that were missing before. */
  readonly owed: number;
}

/** A Lua script as Redis knows it. Generated from the `.lua` files by `npm run scripts`. */
export interface Script {
  readonly name: string;
  readonly sha1: string;
  readonly source: string;
}

/** The most numbers of a state that a cell holds. It holds two at the least. */
export const CELL_NUMBERS = 4;

/** A state of a few numbers where a store keeps it, from `at` on; and the results of `step`. */
export class Cell {
  numbers = new Float64Array(0);
  at = 0;
  length = 0;
  /** µs until `cost` permits can go; 0 if they went. */
  wait = 0;
  remaining = 0;
  reset = 0;

  read(): number[] {
    const { numbers, at } = this;
    // Literals: three times as fast as any copying of a part of the array.
    if (this.length === 2) return [numbers[at]!, numbers[at + 1]!];
    if (this.length === 3) return [numbers[at]!, numbers[at + 1]!, numbers[at + 2]!];
    return [numbers[at]!, numbers[at + 1]!, numbers[at + 2]!, numbers[at + 3]!];
  }

  write(state: readonly number[]): void {
    this.length = state.length;
    for (let i = 0; i < state.length; i += 1) this.numbers[this.at + i] = state[i]!;
  }
}

/** `expandRun` for windows: the run's last moment is the same after each call. */
export const expandWindowRun: NonNullable<SpeedFacet['expandRun']> = (_, cost, count, run, each) => {
  for (let i = 0; i < count; i += 1) each(run.remaining - i * cost, run.first);
};

/**
 * The quotient of two whole numbers below 2^53, rounded up. It is exact: a quotient that is not whole is at least 1 / b away from
 * the next whole number, and rounding to a double moves it by less. The remainder, `%`, takes ten times as long.
 */
export const up = (a: number, b: number): number => Math.ceil(a / b);

/** The same, rounded down. */
export const down = (a: number, b: number): number => Math.floor(a / b);
