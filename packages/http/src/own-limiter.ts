import type { Decision, RateLimiter } from '@sluice/core';
import { connectAtStart, decisionOf } from '@sluice/core/internal';
import type { LimiterSource, RequestLimiter } from './request-limiter.js';

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

export abstract class SourceLimiter<Args> implements OwnLimiter {
  /** Which of several limiters made a decision. */
  readonly #decidedBy = new WeakMap<Decision, RequestLimiter>();

  constructor(
    protected readonly where: string,
    protected readonly source: LimiterSource<Args>,
  ) {}

  get limiter(): RateLimiter {
    const [limiter, another] = Object.values(this.limiters);
    if (limiter === undefined)
      throw new TypeError(`${this.where}: no rule of '${this.source.name}' has a limiter`);
    if (another === undefined) return limiter;
    throw new TypeError(
      `${this.where}: limit '${this.source.name}' has several limiters: use limiters.${Object.keys(this.limiters).join(' or limiters.')}`,
    );
  }

  get limiters(): Readonly<Record<string, RateLimiter>> {
    return this.source.limiters;
  }

  protected decided(decision: Decision, by: RequestLimiter): void {
    this.#decidedBy.set(decision, by);
  }

  async refund(shown: Decision): Promise<void> {
    const { single, title } = this.source;
    const decision = decisionOf(shown);
    const by = single ?? this.#decidedBy.get(decision);
    if (by === undefined) throw new TypeError(`${this.where}: refund takes a decision of ${title}`);
    await by.limiter.refund(decision);
  }

  close(): Promise<void> {
    return this.source.close();
  }

  connect(): Promise<void> {
    return connectAtStart(this.source.store);
  }
}
