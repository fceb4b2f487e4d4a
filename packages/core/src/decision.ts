/**
 * The answer to a call. All times are whole milliseconds, rounded so that they are never too early. With several policies, `limit`,
 * `window`, `remaining`, `resetAfter` and `moreAfter` belong to the binding policy: the one with the longest wait, or with the least left.
 */
export interface Decision {
  /** May the call go? */
  readonly allowed: boolean;
  /** The limiter that decided. */
  readonly name: string;
  /** The policy that bound: its name in `policies`; of a single policy the limiter's own. */
  readonly policy: string;
  /** The permits that this call asked for. */
  readonly cost: number;
  /** The most permits that can be taken at once. */
  readonly limit: number;
  /** In how many milliseconds `limit` permits come back: the window, or the time an empty bucket takes to fill. */
  readonly window: number;
  /** Whole permits left, this call's already taken off. */
  readonly remaining: number;
  /** 0 when allowed; else how long until the same call can pass if nobody else comes; `Infinity` when it never can. */
  readonly retryAfter: number;
  /** How long until every permit is back; where `acquire` slept, counted from when it woke. */
  readonly resetAfter: number;
  /**
   * Time until more than `remaining` permits are left, if no other call comes: the end of a fixed window, the next permit of a bucket.
   * Sliding policies and `concurrency` report `resetAfter`. 0 if all permits are there.
   */
  readonly moreAfter: number;
  /** How long `acquire` slept until the permits were due; 0 for all other calls. */
  readonly waited: number;
  /**
   * Who answered: the store, `'memory'` or `'redis'`; in its place what it had denied just before, `'deny-cache'`, or
   * spent what was taken ahead, `'prefetch'`; or, where it is out, the failure policy, `'local'`, `'allow'` or `'deny'`.
   */
  readonly source: string;
  /** Was the store out, so that the failure policy decided? */
  readonly degraded: boolean;
  /** The inputs of the decision. Only with `{ debug: true }`, and if the store or the `local` failure policy decided. */
  readonly debug?: DecisionDebug;
  /** What each policy says by itself, in the order in which they were given. */
  readonly policies: readonly PolicyDecision[];
}

/** What one policy says to a call. */
export interface PolicyDecision {
  readonly name: string;
  readonly cost: number;
  readonly limit: number;
  readonly window: number;
  readonly remaining: number;
  /** How long until this policy alone would let the call pass; 0: it would now. */
  readonly retryAfter: number;
  readonly resetAfter: number;
  readonly moreAfter: number;
  /** Are its permits held until released, as with `concurrency`? */
  readonly held?: true;
}

/** The inputs of a decision, as its store has them: `consume(key, { debug: true })`. Times are whole µs. */
export interface DecisionDebug {
  /** The moment of the decision on the store's clock: the Redis server's, or this process's. */
  readonly now: number;
  /** One entry per policy, in the order given. */
  readonly policies: readonly PolicyDebug[];
}

export interface PolicyDebug {
  /** The name of the policy. */
  readonly name: string;
  /** The storage key of the state. */
  readonly key: string;
  /** The policy's parameters by name; during an override the override's. */
  readonly numbers: Readonly<Record<string, number>>;
  /** Are they the parameters of an override or of a shared rate? */
  readonly overridden: boolean;
  /** What the key had taken before and after the call. */
  readonly before: StateDebug;
  readonly after: StateDebug;
  /** Calls that wait for their promised moment. */
  readonly booked: readonly { readonly at: number; readonly cost: number }[];
  /** End of the key's block; 0 without one. */
  readonly blockedUntil: number;
}

export interface StateDebug {
  /** As stored: see the algorithm's `State` in its source. Empty if nothing that was taken counts any more. */
  readonly state: readonly number[];
  /** Whole permits left in this state, without the calls that are booked. */
  readonly remaining: number;
  /** Time until every permit is back. */
  readonly resetAfter: number;
}
