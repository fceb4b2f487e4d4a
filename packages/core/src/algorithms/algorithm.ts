import type { Cell } from './cell.js';

/**
 * What an algorithm remembers of the permits that a key has taken: a list of whole numbers. Redis stores them as eight-byte doubles,
 * one after the other. The first is the moment (µs) at which the state expires. No list (`undefined`): an unused key.
 *
 * A state knows the past only. Permits booked for later stand in a queue beside it, see `engine/wait-queue.ts`.
 */
export type State = readonly number[];

/** The numbers of a policy as the algorithm uses them, in the order of its Lua twin. */
export type Parameters = readonly number[];

/** A wait that never ends: the cost is above what the policy ever has at once. */
export const NEVER = -1;

/**
 * µs: when the clock goes back by no more than this, time stands still until the clock has caught up. Repairing the state at each
 * such step would give permits away every time.
 */
export const JITTER = 10_000;

/** A policy: the name of an algorithm and its numbers, as plain data. */
export interface Policy {
  readonly algorithm: string;
}

/** The figures that users see. */
export interface Size {
  /** The most permits that can be taken at once. */
  readonly limit: number;
  /** µs in which `limit` permits come back. */
  readonly window: number;
}

/** A policy, compiled once for limiters and stores. */
export interface Rule extends Size {
  readonly algorithm: Algorithm;
  readonly parameters: Parameters;
  /** For rules whose numbers change with time (calendar days): the parameters around the moment `now` (µs). */
  parametersAt?(now: number): Parameters;
}

/**
 * How a policy decides: once in TypeScript, once in Lua, with the same answers to the microsecond. All functions but `step`
 * are pure, and never change the state they are given. The state that they get has not expired at `now`, has been through `normalize`,
 * and so holds no moment after `now` but the ones until which it matters.
 */
export interface Algorithm {
  /**
   * Two letters by which the Lua twin is found and which tell this state apart in a storage key, so that a changed
   * algorithm starts anew.
   */
  readonly tag: string;
  /** Names of the parameters, in order. Times are µs. */
  readonly parameterNames: readonly string[];
  /** The figures of a policy with these parameters, which may come from an override and not from a policy in code. */
  size(parameters: Parameters): Size;
  /** The state itself; or, when the clock went back or the policy changed, one that locks nobody out for longer than it may. */
  normalize(parameters: Parameters, state: State, now: number): State;
  /** µs from `now` until `cost` ≥ 0 permits can go if nobody else comes: 0 now, `NEVER`. */
  wait(parameters: Parameters, state: State | undefined, now: number, cost: number): number;
  /** The state after `cost` ≥ 1 permits went at `now`, whether that was allowed or not. */
  take(parameters: Parameters, state: State | undefined, now: number, cost: number): State;
  /**
   * The state after a call that other parameters allowed. Unlike `take`, no more is missing in it than calls can take under these
   * parameters. Default: `take`.
   */
  absorb?(parameters: Parameters, state: State | undefined, now: number, cost: number): State;
  /**
   * The state after permits that went at the moment `at` ≤ `now` are given back: never above full, nothing when they have
   * come back by themselves since. With `at` = `ANY` they are a gift: the latest ones taken come back.
   */
  refund(parameters: Parameters, state: State, now: number, cost: number, at: number): State | undefined;
  /** Whole permits left at `now`, and µs until every permit is back. */
  usage(parameters: Parameters, state: State | undefined, now: number): Usage;
  /**
   * For algorithms whose permits return one by one at a known rate: µs until more than `remaining` permits are left, never too
   * early. `remaining` and `reset` are the results of `usage`. Default: `reset`.
   */
  more?(parameters: Parameters, remaining: number, reset: number): number;
  /**
   * Where a state means another count under other parameters: the state that means the same count. Without it a state is
   * read as it is.
   */
  translate?(from: Parameters, to: Parameters, state: State, now: number): State;
  /** Where a key is worth something other than full when it is first met: the state to begin with. */
  initialState?(parameters: Parameters, now: number): State | undefined;
  /** Where `acquire` has its permits later than `consume` would: µs until they are due. */
  acquireWait?(parameters: Parameters, state: State | undefined, now: number, cost: number): number;
  /**
   * For algorithms whose `acquire` accepts a cost above the capacity and waits until that many permits have flowed in: the shortest
   * wait for such a cost, µs, even if nothing was taken. 0 for a cost within the capacity.
   */
  saving?(parameters: Parameters, cost: number): number;
  /** The state after such a call at its promised moment, where it differs from `take`. */
  book?(parameters: Parameters, state: State | undefined, now: number, cost: number): State;
  /** Does the first call of a whole key begin a window, or start the ticks? Then a later call can delay fewer bookings. Without it, no. */
  anchored?(parameters: Parameters): boolean;
  /** Where waits are bounded by the policy itself: the longest, in µs. */
  maxWait?(parameters: Parameters, cost: number): number;
  /**
   * For states of two to four numbers: decides a `consume` in place, exactly as `normalize`, `wait`, `take` and `usage` would.
   * @returns false for the cases that it leaves to them: nothing has changed then
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
  /** Where a state can be more than a few numbers: the bytes that it takes in Redis when the limit is used up. */
  bytes?(parameters: Parameters): number;
  /**
   * For algorithms whose permits may be prefetched, and used up to `micros` later: parameters under which the calls that use them are
   * never more than `parameters` allow, and the longest time (µs) for which that holds. `undefined`: no such parameters exist.
   */
  prefetched?(parameters: Parameters, micros: number): Prefetched | undefined;
  /**
   * Where that time ends sooner: µs from `now`, when they were taken, for which prefetched permits may be used. `reset` is from the
   * answer.
   */
  usableFor?(parameters: Parameters, now: number, reset: number): number;
  /** For permits that are held and not spent. */
  readonly holders?: Holders;
}

export interface Prefetched {
  readonly parameters: Parameters;
  readonly longest: number;
}

/** For `refund`: no matter when they were taken. */
export const ANY = -1;

/** How `take-run.lua` describes equal calls in a row that were allowed. */
export interface Run {
  /** Permits left after the first. */
  readonly remaining: number;
  /** µs from now: until every permit is back, or, of a bucket, the last tick. */
  readonly first: number;
  /** Of a bucket: units that were missing before. */
  readonly owed: number;
}

export interface Usage {
  readonly remaining: number;
  readonly reset: number;
}

/**
 * Permits that somebody holds until they are released or their lease ends. Each holder and each who waits has an id, which
 * takes the place of the moment `at` in `refund`: a larger number for each, near the moment when it came.
 */
export interface Holders {
  /** The id of the one who came last. */
  last(state: State): number;
  /** The state with somebody more who waits for `cost` permits. */
  join(parameters: Parameters, state: State | undefined, now: number, cost: number): State;
  /** Holder or waiter `id` is still there: its lease begins anew. */
  renew(parameters: Parameters, state: State, now: number, id: number): State;
  /** Does `id` hold its permits (1), wait for them (0), or is it unknown (-1)? */
  holderStatus(state: State, id: number): 1 | 0 | -1;
  /** µs until a lease ends at which `id`, who waits, may have its permits; for when no release comes. */
  remainingWait(parameters: Parameters, state: State, now: number, id: number): number;
  /** Ends leases that ran out and lets those who wait have what is free, first come first served. */
  promote(
    parameters: Parameters,
    state: State,
    now: number,
  ): { readonly state: State | undefined; readonly granted: readonly number[] };
}

/** A Lua script as Redis knows it. Generated from the `.lua` files by `npm run scripts`. */
export interface Script {
  readonly name: string;
  readonly sha1: string;
  readonly source: string;
}

/** What a policy is made into, by its name. A new algorithm is a folder beside the others and a line in `index.ts`. */
export interface PolicyKind<P extends Policy = Policy> {
  /** The name in `policy.algorithm`. */
  readonly name: P['algorithm'];
  /** @throws RangeError when the policy's numbers are not acceptable */
  compile(policy: P): Rule;
  /**
   * The policy for one process out of several that have to do with a part of the limit each, while nobody counts for all of them: at most
   * `share` of the permits and of the rate, but one permit at the least.
   */
  shareOf(policy: P, share: number): P;
}
