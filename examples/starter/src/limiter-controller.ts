import { type Duration, RateLimiter, type Store, tokenBucketOfRate } from '@sluice/core';
import { CountLimit, LimitType, RateLimit } from '@sluice/decorators';

/** The demo controller of the Spring starter whose annotations Sluice reproduces. */
export class LimiterController {
  readonly #limiter: RateLimiter;

  constructor(store: Store, deadline: Duration) {
    const policy = tokenBucketOfRate({ rate: 1 / 30, burst: 30 });
    this.#limiter = new RateLimiter({ name: 'LimiterController.rate2', policy, store, deadline });
  }

  /** Two calls per key in 10 s. */
  @CountLimit({ key: '#{key}', limit: 2, period: 10, limitType: LimitType.CUSTOM })
  async count(key: string): Promise<string> {
    return `counted ${key}\n`;
  }

  /** One call in 5 s, from all callers together. */
  @RateLimit({ rate: 1 / 5, burst: 5, expire: 120 })
  async rate(): Promise<string> {
    return 'one of every 5 s\n';
  }

  /** One call in 30 s, limited by code rather than by a decorator. */
  async rate2(): Promise<string> {
    await this.#limiter.acquire('app.limiter', { timeout: 0 });
    return 'one of every 30 s\n';
  }
}
