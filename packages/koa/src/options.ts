import type { Decision, Duration } from '@sluice/core';
import { checkOptions } from '@sluice/core/internal';
import { checkHandler, REQUEST_LIMIT_OPTIONS, type RequestLimitOptions, readFixedWindow } from '@sluice/http';
import type { Context, ExtendableContext, Next } from 'koa';

/** Any context: with a state and properties of the program's own. */
export interface AnyContext extends ExtendableContext {
  // biome-ignore lint/suspicious/noExplicitAny: Koa's own types take whatever a program adds
  state: any;
}

/** Options with the names of `koa-ratelimit`. */
export interface KoaRateLimitNames<C extends AnyContext> {
  /** Requests in a window of `duration`, or a function that returns it: `policy: fixedWindow({ limit: max, window: duration })`. */
  readonly max?: (number | ((context: C) => number | Promise<number>)) | undefined;
  /** The window of `max`; milliseconds, or text as in other durations; default one hour. */
  readonly duration?: Duration | undefined;
}

/** `C` is the program's own context type: `rateLimit<AppContext>({ … })`. */
export interface RateLimitOptions<C extends AnyContext = Context>
  extends RequestLimitOptions<[context: C]>,
    KoaRateLimitNames<C> {
  /** Answers a denied request itself, or calls `next`. The headers are already set. */
  readonly handler?: ((context: C, next: Next, decision: Decision) => unknown) | undefined;
}

/** Replacements for options of `koa-ratelimit` that are not options here. */
const REMEDIES = {
  driver: 'omit it, or pass store: redisStore(client)',
  db: 'omit it, or pass store: redisStore(client)',
  id: 'pass keyGenerator, and skip instead of returning false',
  whitelist: 'pass allowList',
  blacklist: 'pass denyList',
  errorMessage: 'pass message',
  status: 'pass statusCode',
  onLimit: 'pass onLimited',
  headers: 'pass legacyHeaders and standardHeaders; their names are fixed',
  limit: 'pass max',
  windowMs: 'pass duration',
  timeWindow: 'pass duration',
  disableHeader: 'pass legacyHeaders and standardHeaders',
};

/**
 * Splits Koa's own options from those of all adapters.
 * @throws RangeError, TypeError naming the invalid option
 */
export function readOptions<C extends AnyContext>(options: RateLimitOptions<C>) {
  checkOptions('rateLimit', options, [...REQUEST_LIMIT_OPTIONS, 'max', 'duration', 'handler'], REMEDIES);
  const { handler, ...rest } = options;
  checkHandler('rateLimit', handler, rest);
  const names = { limit: ['max'], window: 'duration', standard: '1h' } as const;
  return { handler, shared: readFixedWindow<[context: C]>('rateLimit', rest, names) };
}
