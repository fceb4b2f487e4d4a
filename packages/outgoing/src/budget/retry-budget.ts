import { isStoreUnavailableError, RateLimiter, type Store, tokenBucket } from '@sluice/core';

/** The costs of retries, as `retry.budget`. */
export interface RetryBudgetOptions {
  /** What all processes may use together before only time and successes give more. Default: 500. */
  readonly tokens?: number;
  /** What a retry costs. Default: 5. */
  readonly retry?: number;
  /** What a retry after a connection error or a timeout costs. Default: 10. */
  readonly timeout?: number;
  /** What a success gives back. Default: 1. */
  readonly success?: number;
}

const ALL = 'all';
/** Tokens that are given back at once. */
const BATCH = 20;

/**
 * What retries may use, of all calls of all processes: while an upstream is down, retries end soon. One retry a second is always possible. Successes
 * give back what this process has used.
 */
export class RetryBudget {
  readonly #limiter: RateLimiter;
  readonly #costs: Required<RetryBudgetOptions>;
  #used = 0;
  #returned = 0;

  constructor(
    name: string,
    store: Store,
    keyPrefix: string | undefined,
    deadline: number | undefined,
    costs: Required<RetryBudgetOptions>,
  ) {
    this.#costs = costs;
    const policy = tokenBucket({ capacity: costs.tokens, refill: costs.retry, every: '1s' });
    this.#limiter = new RateLimiter({ name: `${name}:retries`, policy, store, keyPrefix, deadline });
  }

  /** May a call be repeated? */
  async take(kind: 'retry' | 'timeout'): Promise<boolean> {
    const cost = this.#costs[kind];
    const { allowed } = await this.#limiter.consume(ALL, { cost });
    if (allowed) this.#used += cost;
    return allowed;
  }

  /** Have retries used tokens that successes give back? */
  get isUsed(): boolean {
    return this.#used > 0;
  }

  /** A call has succeeded. Costs nothing while there were no retries. */
  async succeeded(): Promise<void> {
    if (this.#used === 0) return;
    const back = Math.min(this.#used, this.#costs.success);
    this.#used -= back;
    this.#returned += back;
    if (this.#returned === 0 || (this.#returned < BATCH && this.#used > 0)) return;
    const tokens = this.#returned;
    this.#returned = 0;
    try {
      await this.#limiter.reward(ALL, tokens);
    } catch (error) {
      if (!isStoreUnavailableError(error)) throw error;
      this.#returned += tokens; // with the next success
    }
  }

  async close(): Promise<void> {
    await this.#limiter.close();
  }
}
