import type { DecisionDebug } from './decision-debug.js';

/**
 * The answer to a call. All times are whole milliseconds, rounded so that they are never too early. Where a limiter has several
 * policies, `limit`, `window`, `remaining`, `resetAfter` and `moreAfter` are those of the one that bound: the one to wait for longest, or
 * that has least left.
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
   * How long until more than `remaining` are left, if nobody else comes: the end of a fixed window, the next permit of a bucket. Of what slides
   * and of what is held it is `resetAfter`. 0 when all are there.
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
  /** What it was decided by; only with `{ debug: true }`, and where the store decided, or this process in its place. */
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
  /** Are its permits held until they are released, as those of `concurrency`? */
  readonly held?: true;
}
