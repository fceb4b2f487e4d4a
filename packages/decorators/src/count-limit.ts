import { checkOptions, fixedWindow } from '@sluice/core';
import { type CommonOptions, checkParentheses, commonLimit, milliseconds } from './limit.js';
import { type MethodDecorator, methodDecorator } from './method-decorator.js';

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
 * Works as a standard (TC39) and as a legacy (`experimentalDecorators`) decorator, on instance, static and private methods.
 * @throws RangeError, TypeError at decoration, naming the attribute that is wrong or the thing that is not a method.
 */
export function CountLimit(options: CountLimitOptions = {}, ...rest: never[]): MethodDecorator {
  checkParentheses('@CountLimit', options, rest);
  checkOptions('@CountLimit', options, ATTRIBUTES);
  const { prefix = DEFAULT_PREFIX, limit = 1, period = 1 } = options;
  return methodDecorator({
    ...commonLimit('@CountLimit', options, prefix, DEFAULT_PREFIX),
    policy: fixedWindow({ limit, window: milliseconds('@CountLimit: period', period, 0.001) }),
    timeout: 0,
  });
}
