import { checkInteger, describe, noEffect } from '@sluice/core/internal';
import type { RequestLimitOptions } from './request-limit-options.js';

export const isMessage = (value: unknown): value is string | object =>
  typeof value === 'string' || (typeof value === 'object' && value !== null);

/**
 * @returns the status of a denial
 * @throws RangeError, TypeError naming the invalid option
 */
export function checkDenialOptions<Args extends readonly unknown[]>(
  where: string,
  options: RequestLimitOptions<Args>,
): number {
  const { statusCode = 429, message, onLimited, dryRun, denyList, timeout, rules, throw: throws } = options;
  const { retryAfterJitter: jitter = 0 } = options;
  checkInteger(`${where}: statusCode`, statusCode, 400, 599);
  if (typeof jitter !== 'number' || !(jitter >= 0 && jitter <= 1)) {
    throw new RangeError(
      `${where}: retryAfterJitter must be a share from 0 to 1, such as 0.2, not ${describe(jitter)}`,
    );
  }
  if (!isMessage(message) && typeof message !== 'function' && message !== undefined) {
    throw new TypeError(
      `${where}: message must be text, an object or a function that returns one, not ${describe(message)}`,
    );
  }
  if (dryRun && onLimited === undefined && rules === undefined) {
    throw noEffect(where, 'dryRun', 'without onLimited, which reports what would be denied');
  }
  if (dryRun && denyList !== undefined) {
    throw noEffect(where, 'denyList', 'with dryRun: put it into a limit of its own');
  }
  if (dryRun && timeout !== undefined) {
    throw noEffect(where, 'timeout', 'with dryRun, which lets every request pass at once');
  }
  if (throws && message !== undefined) {
    throw noEffect(where, 'message', 'with throw: the code that catches the error answers');
  }
  return statusCode;
}
