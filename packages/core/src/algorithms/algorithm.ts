/**
 * What an algorithm remembers of a key between two calls: a short list of whole numbers. Memory keeps the list, Redis the
 * same numbers joined by spaces. The first is always the moment (µs) from which the state is worth as much as none:
 * stores forget it then. No list (`undefined`) is a key that nobody has used.
 */
export type State = readonly number[];

/** The numbers of a policy in the form the algorithm reckons with, in the order its `step` and its Lua twin take them. */
export type Parameters = readonly number[];

export type Operation = 'consume' | 'peek' | 'refund';

/** One question to an algorithm. */
export interface Question {
  /**
   * - `consume`: take `cost` permits now, or book them for a moment at most `maxWait` ahead;
   * - `peek`: the same question, but take nothing;
   * - `refund`: give back `cost` permits that were due at the moment `at`.
   */
  readonly operation: Operation;
  /** Permits, a whole number ≥ 0. A cost of 0 is always a `peek`. */
  readonly cost: number;
  /** µs that the caller is ready to wait. A longer wait is refused and books nothing. */
  readonly maxWait: number;
  /** For `refund`: the moment (µs, the store's clock) for which the permits had been given. */
  readonly at: number;
}

/** A wait that never ends: the cost is above what the policy can ever give at once. */
export const NEVER = -1;

/** The four answers, and the state to keep. All times are whole µs. */
export interface Step {
  /** The state to keep; the very object that came in when nothing changed, so that a store need not write. */
  readonly state: State | undefined;
  readonly allowed: boolean;
  /** Whole permits left afterwards. */
  readonly remaining: number;
  /** When allowed: how long until the permits are due (0: now). When denied: until a retry can pass, or `NEVER`. */
  readonly wait: number;
  /** How long until every permit is back. */
  readonly reset: number;
}

/** A Lua script as Redis knows it. Generated from the `.lua` files by `npm run scripts`. */
export interface Script {
  readonly name: string;
  readonly sha1: string;
  readonly source: string;
}

/** A policy: the name of an algorithm and its numbers, as plain data. */
export interface Policy {
  readonly algorithm: string;
}

/** What a limiter and a store need to know of a policy, made once. */
export interface Rule {
  readonly algorithm: Algorithm;
  readonly parameters: Parameters;
  /** The most permits that can be taken at once. */
  readonly limit: number;
  /** µs in which `limit` permits come back. */
  readonly window: number;
  /** µs: the longest wait that the algorithm can book exactly. */
  readonly longestWait: number;
}

/** How a policy decides: once in TypeScript, once in Lua, with the same answers to the microsecond. */
export interface Algorithm<P extends Policy = Policy> {
  /** The name in `policy.algorithm`. */
  readonly name: string;
  /** Two or three letters that tell this state apart in a storage key, so that a changed algorithm starts anew. */
  readonly tag: string;
  /** @throws RangeError when the policy's numbers are not acceptable */
  compile(policy: P): Rule;
  /** Pure: the same state, moment and question give the same step. */
  step(parameters: Parameters, state: State | undefined, now: number, question: Question): Step;
  /** The twin of `step`. */
  readonly script: Script;
}
