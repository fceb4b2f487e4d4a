import { fixedWindow } from '@sluice/core';
import { checkOptions } from '@sluice/core/http';
import { type LimitDecorator, limitDecorator } from './limit-decorator.js';
import { type CommonOptions, checkParentheses, commonLimit, milliseconds } from './limitation.js';

export interface CountLimitOptions extends CommonOptions {
  /**
   * The default gives each method its own limit. Methods that choose the same other prefix share one, and should then
   * have the same numbers. Default `'countLimit:'`.
   */
  readonly prefix?: string;
  /** Calls in one period: a whole number ≥ 1; default 1. */
  readonly limit?: number;
  /** Seconds in a period, which begins with the first call; default 1. Whole milliseconds: 0.25 is accepted. */
  readonly period?: number;
}

const DEFAULT_PREFIX = 'countLimit:';
const ATTRIBUTES = ['key', 'prefix', 'limit', 'period', 'limitType', 'params'];

/**
 * Lets an async method be called `limit` times in a period that begins with the first call. A call beyond that rejects
 * with a `RateLimitExceededError` and the method does not run.
 *
 * Works as a standard (TC39) and as a legacy (`experimentalDecorators`) decorator, on instance, static and private methods;
 * on a class it limits each of its own methods by itself (see `SkipLimit`).
 * @throws RangeError, TypeError at decoration, naming the attribute that is wrong or the thing that cannot be limited. Calls
 *   reject with RateLimitExceededError, KeyResolutionError, StoreUnavailableError, StoreConfigurationError, LimiterClosedError.
 */
export function CountLimit(options: CountLimitOptions = {}, ...rest: never[]): LimitDecorator {
  checkParentheses('@CountLimit', options, rest);
  checkOptions('@CountLimit', options, ATTRIBUTES);
  const { prefix = DEFAULT_PREFIX, limit = 1, period = 1 } = options;
  return limitDecorator({
    ...commonLimit('@CountLimit', options, prefix, DEFAULT_PREFIX),
    rules: { policy: fixedWindow({ limit, window: milliseconds('@CountLimit: period', period, 0.001) }) },
    timeout: undefined,
    cost: undefined,
  });
}
