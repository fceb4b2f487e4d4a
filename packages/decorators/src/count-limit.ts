import { fixedWindow } from '@sluice/core';
import { readNotify } from '@sluice/core/internal';
import { type LimitDecorator, limitDecorator } from './limit-decorator.js';
import { type CommonOptions, commonLimit, milliseconds, type NotifyOptions } from './limitation.js';
import { warnOfManySeconds } from './units.js';

export interface CountLimitOptions extends CommonOptions {
  /** Calls in one period: a whole number; default 1. 0 denies every call. */
  readonly limit?: number;
  /** Seconds in a period, which begins with the first call: whole milliseconds, such as 0.25; default 1. */
  readonly period?: number;
  /**
   * Thresholds that are published on the channel `sluice:threshold`, once for each key and period in all processes: `['80%', '100%']`. Default:
   * none.
   */
  readonly notify?: Extract<NotifyOptions, readonly unknown[]> | undefined;
}

/**
 * Lets an async method be called `limit` times in a period that begins with the first call. Further calls reject with a
 * `RateLimitExceededError`, and the method does not run. What it can decorate, and what calls reject with: see `LimitDecorator`.
 * @throws RangeError, TypeError at decoration, naming the invalid attribute or what cannot be limited
 */
export function CountLimit(options: CountLimitOptions = {}, ...rest: never[]): LimitDecorator {
  const common = commonLimit('@CountLimit', 'countLimit:', options, ['limit', 'period', 'notify'], rest);
  const { limit = 1, period = 1, escalate, notify } = options;
  const window = milliseconds('@CountLimit: period', period, 0.001);
  warnOfManySeconds('@CountLimit: period', period);
  readNotify('@CountLimit', notify, ['limit'], false);
  return limitDecorator({
    ...common,
    rules: { policy: fixedWindow({ limit, window }), escalate, notify },
  });
}
