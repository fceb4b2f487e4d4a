import type { Duration } from '@sluice/core';
import { checkName, checkOptions, noEffect, onlyOne } from '@sluice/core/internal';
import { checkHandler, REQUEST_LIMIT_OPTIONS, type RequestLimitOptions, readFixedWindow } from '@sluice/http';
import type { NextFunction, Request, Response } from 'express';
import type { DenialInfo } from './info.js';

/** The arguments of functions in options. */
export type Args = [request: Request, response: Response];

/** A value, or a function of the request that returns it. */
export type ValueDeterminingMiddleware<T> = (request: Request, response: Response) => T | Promise<T>;

/**
 * Answers a denied request, or calls `next`. The headers are already set. `denial` is the decision, with the `statusCode` and `message`
 * that an `express-rate-limit` handler reads from its options.
 */
export type RateLimitExceededEventHandler = (
  request: Request,
  response: Response,
  next: NextFunction,
  denial: DenialInfo,
) => unknown;

/** Options with the names of `express-rate-limit`. */
export interface ExpressRateLimitNames {
  /** Requests in a window of `windowMs`, or a function that returns it: `policy: fixedWindow({ limit, window: windowMs })`. */
  readonly limit?: number | ValueDeterminingMiddleware<number> | undefined;
  /** The same as `limit`. */
  readonly max?: number | ValueDeterminingMiddleware<number> | undefined;
  /** The window of `limit`; milliseconds, or text as in other durations; default one minute. */
  readonly windowMs?: Duration | undefined;
  /** The same as `name`. A function returns the public name for headers and problems, while `name` still names the counts. */
  readonly identifier?: string | ValueDeterminingMiddleware<string> | undefined;
  /** As in all adapters; `false` counts each IPv6 address as a client. */
  readonly ipv6Subnet?: number | false | ValueDeterminingMiddleware<number | false> | undefined;
}

/** The options of every adapter's `rateLimit`, and the names of `express-rate-limit`; functions get `(request, response)`. */
export interface RateLimitOptions
  extends Omit<RequestLimitOptions<Args>, 'ipv6Subnet'>,
    ExpressRateLimitNames {
  /** Answers a denied request itself, or calls `next`. The headers are already set. */
  readonly handler?: RateLimitExceededEventHandler | undefined;
  /** The property of the request that gets the decision; default `'rateLimit'`. */
  readonly requestPropertyName?: string | undefined;
}

/** Replacements for options of `express-rate-limit` that are not options here. */
const REMEDIES = {
  passOnStoreError: "pass failurePolicy: 'allow' for true, 'deny' for false",
  retryAfter: 'omit it: Retry-After is the time until the request can pass',
  logger: "listen to process.on('warning', …), and to the events of the store",
  headers: 'pass legacyHeaders',
  draft_polli_ratelimit_headers: 'pass standardHeaders',
  duration: 'pass windowMs',
  timeWindow: 'pass windowMs',
  onLimitReached: 'pass onLimited, which is called for each denial',
};

const OWN = ['handler', 'requestPropertyName', 'limit', 'max', 'windowMs', 'identifier'] as const;

/**
 * Splits Express's own options from those of all adapters.
 * @throws RangeError, TypeError naming the invalid option
 */
export function readOptions(options: RateLimitOptions = {}) {
  checkOptions('rateLimit', options, [...REQUEST_LIMIT_OPTIONS, ...OWN], REMEDIES);
  const { handler, requestPropertyName = 'rateLimit', identifier, ipv6Subnet, ...rest } = options;
  if (typeof rest.validate === 'object' && rest.validate !== null) {
    throw new TypeError(
      'rateLimit: validate must be true or false, not an object: to silence single warnings, run node with --disable-warning=CODE',
    );
  }
  checkHandler('rateLimit', handler, rest);
  checkForeignStore(rest.store);
  checkName('rateLimit: requestPropertyName', requestPropertyName);
  if (requestPropertyName === '__proto__')
    throw new TypeError('rateLimit: requestPropertyName cannot be __proto__');
  if (identifier !== undefined && rest.rules !== undefined)
    throw noEffect('rateLimit', 'identifier', 'with rules, whose limiters have the names of the document');
  const named = identifier !== undefined && typeof identifier !== 'function';
  if (named) onlyOne('rateLimit', options, ['name', 'identifier']);
  const shared = readFixedWindow<Args>(
    'rateLimit',
    {
      ...rest,
      ...(named && { name: identifier }),
      ...(ipv6Subnet !== undefined && { ipv6Subnet: subnetOf(ipv6Subnet) }),
    },
    { limit: ['limit', 'max'], window: 'windowMs', standard: '1m' },
  );
  return { shared, handler, requestPropertyName, nameFor: named ? undefined : identifier };
}

/** @throws TypeError for a store of express-rate-limit, which counts but does not decide */
function checkForeignStore(store: RateLimitOptions['store']): void {
  const { increment, incr } = (store ?? {}) as { increment?: unknown; incr?: unknown };
  if (typeof increment !== 'function' && typeof incr !== 'function') return;
  throw new TypeError(
    'rateLimit: store is a store of express-rate-limit. Pass store: redisStore(client) and a name, or no store to count in memory',
  );
}

/** `false` of express-rate-limit: all bits. */
function subnetOf(
  given: NonNullable<RateLimitOptions['ipv6Subnet']>,
): number | ValueDeterminingMiddleware<number> {
  const bits = (subnet: number | false) => (subnet === false ? 128 : subnet);
  return typeof given === 'function' ? async (...args: Args) => bits(await given(...args)) : bits(given);
}
