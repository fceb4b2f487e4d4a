import {
  type CombinedLimiter,
  type ConsumeOptions,
  type Decision,
  type DecisionOptions,
  isRateLimitExceededError,
  isStoreUnavailableError,
  type LimiterKey,
  type RateLimiter,
  type Store,
  type WaitOptions,
} from '@sluice/core';
import {
  BaseLimiter,
  compilePolicy,
  describe,
  type MaybePromise,
  shortPeriodOf,
  warnOnce,
} from '@sluice/core/internal';
import type { Keys, RequestLimitOptions } from './request-limit-options.js';
import type { ResponseView } from './views.js';

/** Where a limit gets the limiter of a request. */
export interface LimiterSource<Args> {
  readonly name: string;
  /** The limiter's store; undefined for a limiter of the other copy of this package. */
  readonly store: Store | undefined;
  /** The limiter of all requests; undefined if each request has its own policy. */
  readonly single: RequestLimiter | undefined;
  /** By name. @throws TypeError with a policy for each request */
  readonly limiters: Readonly<Record<string, RateLimiter>>;
  /** @param key the request's key, passed to functions that return policies */
  ofRequest?(args: Args, key: string): Promise<RequestLimiter>;
  /** Closes the limiters that were created here. */
  close(): Promise<void>;
}

/** A limiter, prepared for requests. */
export class RequestLimiter {
  /** The limiter's `consume`, without a promise where the store needs none. */
  readonly consume: (keys: Keys, options?: DecisionOptions) => MaybePromise<Decision>;
  /** The limiter by its name, or the members of a `CombinedLimiter` by theirs. */
  readonly limiters: Readonly<Record<string, RateLimiter>>;
  /** Names of the policies, or of the members: the names in a cost. */
  readonly names: readonly string[];
  /** Does a request hold permits until its response is over? */
  readonly holds: boolean;

  constructor(
    readonly limiter: RateLimiter | CombinedLimiter,
    where: string,
    { validate = true }: Pick<RequestLimitOptions<never>, 'validate'>,
  ) {
    const combines = 'limiters' in limiter;
    const given = limiter as RateLimiter;
    this.consume = (
      given instanceof BaseLimiter ? BaseLimiter.consumer(given) : limiter.consume.bind(limiter)
    ) as RequestLimiter['consume'];
    this.limiters = combines ? limiter.limiters : { [limiter.name]: limiter };
    this.names = Object.keys(combines ? limiter.limiters : limiter.policies);
    this.holds = Object.values(this.limiters)
      .flatMap(({ policies }) => Object.values(policies))
      .some((policy) => compilePolicy(policy).algorithm.holders !== undefined);
    if (validate) warnOfShortWindows(where, this);
  }

  /**
   * Takes permits, and waits for them up to `timeout`.
   * @returns undefined if the client disconnects during the wait; nothing is taken then
   */
  async acquire(
    keys: Keys,
    options: ConsumeOptions & WaitOptions,
    response: ResponseView,
  ): Promise<Decision | undefined> {
    const left = new AbortController();
    response.whenOver(() => left.abort());
    try {
      const { signal } = left;
      return await (this.limiter as RateLimiter).acquire(keys as LimiterKey, { ...options, signal });
    } catch (error) {
      if (left.signal.aborted) return undefined;
      if (isRateLimitExceededError(error)) return error.decision;
      if (isStoreUnavailableError(error) && error.decision !== undefined) return error.decision;
      throw error;
    }
  }
}

/**
 * Checks the option `limiter`. Not by instanceof: the limiter may come from the other copy of this package, ESM beside CJS.
 * @throws TypeError if it is not a limiter, or is a `CombinedLimiter` without a `keyGenerator`
 */
export function checkLimiter(where: string, limiter: object | null, hasKeyGenerator: boolean): void {
  const { consume, release, policies, limiters } = (limiter ?? {}) as Partial<RateLimiter & CombinedLimiter>;
  const works = typeof consume === 'function' && typeof release === 'function';
  if (!works || (typeof policies !== 'object' && typeof limiters !== 'object')) {
    throw new TypeError(
      `${where}: limiter must be a RateLimiter or a CombinedLimiter, not ${describe(limiter)}`,
    );
  }
  if (limiters !== undefined && !hasKeyGenerator) {
    const keys = Object.keys(limiters).map((name) => `${name}: …`);
    throw new TypeError(
      `${where}: a CombinedLimiter needs a keyGenerator that gives a key for each of its limiters: ` +
        `keyGenerator: (…) => ({ ${keys.join(', ')} })`,
    );
  }
}

/** Warns about windows given as a number below 1000: `window: 60` means 60 ms. */
function warnOfShortWindows(where: string, { limiters }: RequestLimiter): void {
  for (const { name, policies } of Object.values(limiters)) {
    for (const policy of Object.values(policies)) {
      const short = shortPeriodOf(policy);
      if (short === undefined) continue;
      const { option, value } = short;
      warnOnce(
        'SLUICE_SHORT_WINDOW',
        name,
        `${where}: ${option}: ${value} of limit '${name}' is ${value} milliseconds. Write '${value}s' if you mean seconds, ` +
          `'${value}ms' if you mean milliseconds`,
      );
    }
  }
}
