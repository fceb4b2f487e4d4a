import type { Decision, RateLimiter } from '@sluice/core';

/** The limiter of a limit on requests. */
export interface OwnLimiter {
  /**
   * For `peek`, `reset`, `block` and all else.
   * @throws TypeError with several `limits` or rules, or with a policy for each request
   */
  readonly limiter: RateLimiter;
  /** The limiters of several `limits`, or of the current rules, by name. @throws TypeError with a policy for each request */
  readonly limiters: Readonly<Record<string, RateLimiter>>;
  /** Refunds the permits of a request, once; see `RateLimiter.refund`. */
  refund(decision: Decision): Promise<void>;
  /** Connects a remote store before the first request. Does not reject if the store is out or set up wrongly. */
  connect(): Promise<void>;
  /** Closes the limiter, unless you passed it as `limiter` or in `rules`. */
  close(): Promise<void>;
}

/** Adds the limiter of a limit to the middleware that users hold. */
export function withLimiter<M extends object>(middleware: M, limit: OwnLimiter): M & OwnLimiter {
  return Object.defineProperties(middleware, {
    limiter: { get: () => limit.limiter },
    limiters: { get: () => limit.limiters },
    refund: { value: (decision: Decision) => limit.refund(decision) },
    connect: { value: () => limit.connect() },
    close: { value: () => limit.close() },
  }) as M & OwnLimiter;
}
