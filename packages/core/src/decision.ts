/** The answer to one call. Times are in milliseconds. */
export interface Decision {
  /** May the call go? */
  readonly allowed: boolean;
  /** The limiter that decided. */
  readonly name: string;
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
  /** How long until every permit is back. */
  readonly resetAfter: number;
  /** How long `acquire` slept until the permits were due; 0 for all other calls. */
  readonly waited: number;
  /** Which store answered: `'memory'`, `'redis'`. */
  readonly source: string;
}
