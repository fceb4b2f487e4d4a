import type { Decision } from '../limiter/decision.js';
import type { RateLimiter } from '../limiter/rate-limiter.js';
import type { LimiterSource } from './limiter-of-request.js';

/** The limiter behind a limit on requests. */
export interface OwnLimiter {
  /**
   * For `peek`, `reset`, `block` and all else.
   * @throws TypeError where there are several `limits`, or a policy for each request
   */
  readonly limiter: RateLimiter;
  /** Those of several `limits`, by their names. @throws TypeError where each request has a policy of its own */
  readonly limiters: Readonly<Record<string, RateLimiter>>;
  /** Gives back what a request took, once; see `RateLimiter.refund`. */
  refund(decision: Decision): Promise<void>;
  /** Closes the limiter, unless it is yours. */
  close(): Promise<void>;
}

/** Puts a limit's limiter on the middleware that users hold. */
export function withLimiter<M extends object>(middleware: M, limit: OwnLimiter): M & OwnLimiter {
  return Object.defineProperties(middleware, {
    limiter: { get: () => limit.limiter },
    limiters: { get: () => limit.limiters },
    refund: { value: (decision: Decision) => limit.refund(decision) },
    close: { value: () => limit.close() },
  }) as M & OwnLimiter;
}

export class LimiterOfRequests implements OwnLimiter {
  constructor(
    readonly where: string,
    readonly source: Pick<LimiterSource<never>, 'name' | 'single' | 'refund' | 'close'>,
  ) {}

  get limiter(): RateLimiter {
    const [limiter, another] = Object.values(this.limiters);
    if (another === undefined) return limiter!;
    throw new TypeError(
      `${this.where}: limit '${this.source.name}' has several limiters: take one of limiters.${Object.keys(this.limiters).join(', limiters.')}`,
    );
  }

  get limiters(): Readonly<Record<string, RateLimiter>> {
    const { single } = this.source;
    if (single !== undefined) return single.limiters;
    throw new TypeError(
      `${this.where}: limit '${this.source.name}' has a policy for each request, and so no single limiter. To peek and reset make a ` +
        'RateLimiter with the same name, store and algorithm: it counts in the same place',
    );
  }

  async refund(decision: Decision): Promise<void> {
    await this.source.refund(decision);
  }

  async close(): Promise<void> {
    await this.source.close();
  }
}
