import type { BookingFacet, Figures, Holders, OverrideFacet, PrefetchFacet, SpeedFacet } from './facets.js';
import type { Parameters, Size, State, Usage } from './state.js';

export type * from './facets.js';
export { ANY, JITTER, NEVER, type Parameters, type Size, type State, type Usage } from './state.js';

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
 * How a policy decides: once in TypeScript, once in Lua, with the same answers to the microsecond. All functions except `speed.step` are
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
   * The state after a refund of permits that were taken at `at` ≤ `now`: never above full, and unchanged if they have come back
   * by themselves. With `at` = `ANY` (a reward) the latest permits come back.
   */
  refund(parameters: Parameters, state: State, now: number, cost: number, at: number): State | undefined;
  /** Whole permits left at `now`, and µs until every permit is back. */
  usage(parameters: Parameters, state: State | undefined, now: number): Usage;
  /** For keys that do not begin full: the state of a new key. */
  initialState?(parameters: Parameters, now: number): State | undefined;
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

/** A Lua script as Redis knows it. Generated from the `.lua` files by `npm run scripts`. */
export interface Script {
  readonly name: string;
  readonly sha1: string;
  readonly source: string;
}

/** Compiles the policies of one name. A new algorithm is a folder beside the others and a line in `index.ts`. */
export interface PolicyKind<P extends Policy = Policy> {
  /** The name in `policy.algorithm`. */
  readonly name: P['algorithm'];
  /** @throws RangeError when the policy's numbers are not acceptable */
  compile(policy: P): Rule;
  /** The policy of one process while no store counts for all: at most `share` of the permits and of the rate, but at least one permit. */
  shareOf(policy: P, share: number): P;
}
