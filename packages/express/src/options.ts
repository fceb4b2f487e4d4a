import {
  checkHandler,
  checkName,
  checkOptions,
  type Decision,
  type Duration,
  REQUEST_LIMIT_OPTIONS,
  type RequestLimitOptions,
  readFixedWindow,
} from '@sluice/core';
import type { NextFunction, Request, Response } from 'express';

/** What Express hands to functions. */
export type Args = [request: Request, response: Response];

/** The words of `express-rate-limit` for what Sluice calls otherwise. */
export interface ExpressRateLimitNames {
  /** Requests in a window of `windowMs`, or a function that gives them: `policy: fixedWindow({ limit, window: windowMs })`. */
  readonly limit?:
    | (number | ((request: Request, response: Response) => number | Promise<number>))
    | undefined;
  /** The same as `limit`. */
  readonly max?: (number | ((request: Request, response: Response) => number | Promise<number>)) | undefined;
  /** The window of `limit`; milliseconds, or text as in other durations; default one minute. */
  readonly windowMs?: Duration | undefined;
  /** The same as `name`. */
  readonly identifier?: string | undefined;
}

/** What every adapter's `rateLimit` takes, with the words of `express-rate-limit`; functions are given `(request, response)`. */
export interface RateLimitOptions extends RequestLimitOptions<Args>, ExpressRateLimitNames {
  /** Answers a denied request itself, or calls `next`. The headers are set already. */
  readonly handler?:
    | ((request: Request, response: Response, next: NextFunction, decision: Decision) => unknown)
    | undefined;
  /** Where on the request the decision is put; default `'rateLimit'`. */
  readonly requestPropertyName?: string | undefined;
}

const OWN = ['handler', 'requestPropertyName', 'limit', 'max', 'windowMs', 'identifier'] as const;

/**
 * Splits what only Express has from what all adapters share.
 * @throws RangeError, TypeError naming the option that is wrong
 */
export function readOptions(options: RateLimitOptions) {
  checkOptions('rateLimit', options, [...REQUEST_LIMIT_OPTIONS, ...OWN]);
  const { handler, requestPropertyName = 'rateLimit', identifier, ...rest } = options ?? {};
  checkHandler('rateLimit', handler, rest);
  checkName('rateLimit: requestPropertyName', requestPropertyName);
  if (requestPropertyName === '__proto__')
    throw new TypeError('rateLimit: requestPropertyName cannot be __proto__');
  if (identifier !== undefined && rest.name !== undefined) {
    throw new TypeError('rateLimit: give name or identifier, not both');
  }
  const shared = readFixedWindow<Args>(
    'rateLimit',
    { ...rest, ...(identifier !== undefined && { name: identifier }) },
    { limit: ['limit', 'max'], window: 'windowMs', standard: '1m' },
  );
  return { shared, handler, requestPropertyName };
}
