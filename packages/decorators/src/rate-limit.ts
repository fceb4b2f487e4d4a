import { tokenBucketOfRate } from '@sluice/core';
import { type LimitDecorator, limitDecorator } from './limit-decorator.js';
import { type CommonOptions, commonLimit, milliseconds } from './limitation.js';
import { warnOfManySeconds } from './units.js';

const REMEDIES = {
  notify: 'a bucket has no windows whose use could be reported. Use @CountLimit or @Limit with a fixedWindow',
};

export interface RateLimitOptions extends CommonOptions {
  /**
   * Seconds to keep an idle bucket, > 0; default 60. It has no effect, and is accepted so that ported code compiles: a bucket is kept
   * exactly until it is full again.
   */
  readonly expire?: number;
  /** Permits per second, from 1e-8 to 1e12; default 1. `1 / 60` is one per minute; 0 denies every call. */
  readonly rate?: number;
  /** Seconds for which unused permits are kept, from 1e-8 to 1e12; default 1. The bucket holds `rate × burst` permits, at least one. */
  readonly burst?: number;
  /** The longest wait for a permit, in seconds; default 0: no wait. */
  readonly timeout?: number;
}

/**
 * Lets an async method be called `rate` times per second, with bursts of `rate × burst`, by a token bucket that is full at first. A call
 * that gets no permit within `timeout` rejects with a `RateLimitExceededError`, and the method does not run. What it can decorate, and what
 * calls reject with: see `LimitDecorator`.
 * @throws RangeError, TypeError at decoration, naming the invalid attribute or what cannot be limited
 */
export function RateLimit(options: RateLimitOptions = {}, ...rest: never[]): LimitDecorator {
  const own = ['expire', 'rate', 'burst', 'timeout'];
  const common = commonLimit('@RateLimit', 'rateLimit:', options, own, rest, REMEDIES);
  const { expire = 60, rate = 1, burst = 1, timeout = 0 } = options;
  milliseconds('@RateLimit: expire', expire, 0.001);
  const wait = milliseconds('@RateLimit: timeout', timeout, 0);
  warnOfManySeconds('@RateLimit: timeout', timeout);
  const rules = { policy: tokenBucketOfRate({ rate, burst }), escalate: options.escalate };
  return limitDecorator({ ...common, rules, timeout: wait === 0 ? undefined : wait });
}
