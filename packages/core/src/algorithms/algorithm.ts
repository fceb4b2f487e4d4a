import type { StateView } from '../decision.js';
import type {
  BookingFacet,
  Holders,
  OverrideFacet,
  Parameters,
  PrefetchFacet,
  Size,
  State,
  Usage,
} from './facets.js';

export * from './facets.js';

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
  refundSince?(
    parameters: Parameters,
    state: State,
    now: number,
    cost: number,
    at: number,
  ): State | undefined;
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
