import type { Decision, Duration } from '@sluice/core';
import { checkFunction, checkOptions } from '@sluice/core/internal';
import { checkHandler, REQUEST_LIMIT_OPTIONS, type RequestLimitOptions, readFixedWindow } from '@sluice/http';
import type { Context, Env, Next } from 'hono';
import type { GetConnInfo } from 'hono/conninfo';

/** Options with the names of `hono-rate-limiter`. */
export interface HonoRateLimiterNames<E extends Env> {
  /** Requests in a window of `windowMs`, or a function that returns it: `policy: fixedWindow({ limit, window: windowMs })`. */
  readonly limit?: (number | ((context: Context<E>) => number | Promise<number>)) | undefined;
  /** The window of `limit`; milliseconds, or text as in other durations; default one minute. */
  readonly windowMs?: Duration | undefined;
}

/** `E` is the program's own environment: `rateLimit<AppEnv>({ … })`. */
// biome-ignore lint/suspicious/noExplicitAny: Hono's own types take whatever a program adds
export interface RateLimitOptions<E extends Env = any>
  extends RequestLimitOptions<[context: Context<E>]>,
    HonoRateLimiterNames<E> {
  /** Reads the client's address: `getConnInfo` of your runtime's adapter. Not necessary on Node.js. */
  readonly getConnInfo?: GetConnInfo | undefined;
  /** Answers a denied request itself, or calls `next`. The headers are added to its response. */
  readonly handler?: ((context: Context<E>, next: Next, decision: Decision) => unknown) | undefined;
}

/** Replacements for options of `hono-rate-limiter` that are not options here. */
const REMEDIES = {
  binding:
    'pass store, or a function of the bindings: rateLimit((env) => ({ store: upstashStore({ url: env.URL }) }))',
  requestPropertyName: 'read the decision at c.var.rateLimit',
  requestStorePropertyName: 'use limiter of the middleware',
  duration: 'pass windowMs',
  timeWindow: 'pass windowMs',
  max: 'pass limit',
};

/**
 * Splits Hono's own options from those of all adapters.
 * @throws RangeError, TypeError naming the invalid option
 */
export function readOptions<E extends Env>(options: RateLimitOptions<E>) {
  const own = ['limit', 'windowMs', 'handler', 'getConnInfo'];
  checkOptions('rateLimit', options, [...REQUEST_LIMIT_OPTIONS, ...own], REMEDIES);
  const { handler, getConnInfo, ...rest } = options;
  checkHandler('rateLimit', handler, rest);
  checkFunction('rateLimit: getConnInfo', getConnInfo);
  const { increment } = (rest.store ?? {}) as { increment?: unknown };
  if (typeof increment === 'function') {
    throw new TypeError(
      'rateLimit: store is a store of hono-rate-limiter. Pass store: redisStore(client) and a name, or no store to count in memory',
    );
  }
  const names = { limit: ['limit'], window: 'windowMs', standard: '1m' } as const;
  return { handler, getConnInfo, shared: readFixedWindow<[context: Context<E>]>('rateLimit', rest, names) };
}
