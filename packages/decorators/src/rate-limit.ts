import { tokenBucketOfRate } from '@sluice/core';
import { checkOptions } from '@sluice/core/http';
import { type LimitDecorator, limitDecorator } from './limit-decorator.js';
import { type CommonOptions, checkParentheses, commonLimit, milliseconds } from './limitation.js';

export interface RateLimitOptions extends CommonOptions {
  /**
   * The default gives each method its own limit. Methods that choose the same other prefix share one, and should then
   * have the same numbers. Default `'rateLimit:'`.
   */
  readonly prefix?: string;
  /**
   * Seconds to keep an idle bucket, > 0; default 60. Accepted for the sake of ported code: a bucket is kept exactly until
   * it is full again, when forgetting it changes nothing, so this has no effect.
   */
  readonly expire?: number;
  /** Permits a second, from 1e-8 to 1e12; default 1. `1 / 60` is one a minute. */
  readonly rate?: number;
  /** For how many seconds unused permits are kept, from 1e-8 to 1e12; default 1. The bucket holds `rate × burst`, at least one. */
  readonly burst?: number;
  /** The most seconds to wait for a permit; default 0: a call without one is refused at once. */
  readonly timeout?: number;
}

const DEFAULT_PREFIX = 'rateLimit:';
const ATTRIBUTES = ['key', 'prefix', 'expire', 'rate', 'burst', 'timeout', 'limitType', 'params'];

/**
 * Lets an async method be called `rate` times a second, with bursts of `rate × burst`, by a token bucket that is full at
 * first. A call that finds no permit within `timeout` rejects with a `RateLimitExceededError` and the method does not run.
 *
 * Works as a standard (TC39) and as a legacy (`experimentalDecorators`) decorator, on instance, static and private methods;
 * on a class it limits each of its own methods by itself (see `SkipLimit`).
 * @throws RangeError, TypeError at decoration, naming the attribute that is wrong or the thing that cannot be limited. Calls
 *   reject with RateLimitExceededError, KeyResolutionError, StoreUnavailableError, StoreConfigurationError, LimiterClosedError.
 */
export function RateLimit(options: RateLimitOptions = {}, ...rest: never[]): LimitDecorator {
  checkParentheses('@RateLimit', options, rest);
  checkOptions('@RateLimit', options, ATTRIBUTES);
  const { prefix = DEFAULT_PREFIX, expire = 60, rate = 1, burst = 1, timeout = 0 } = options;
  milliseconds('@RateLimit: expire', expire, 0.001);
  const wait = milliseconds('@RateLimit: timeout', timeout, 0);
  return limitDecorator({
    ...commonLimit('@RateLimit', options, prefix, DEFAULT_PREFIX),
    rules: { policy: tokenBucketOfRate({ rate, burst }) },
    timeout: wait === 0 ? undefined : wait,
    cost: undefined,
  });
}
