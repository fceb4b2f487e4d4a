import type { Decision, Duration, RequestLimitOptions } from '@sluice/core';
import { checkHandler, checkOptions, REQUEST_LIMIT_OPTIONS, readFixedWindow } from '@sluice/core/http';
import type { Context, ExtendableContext, Next } from 'koa';

/** Any context: with a state and properties of the program's own. */
export interface AnyContext extends ExtendableContext {
  // biome-ignore lint/suspicious/noExplicitAny: Koa's own types take whatever a program adds
  state: any;
}

/** The words of `koa-ratelimit` for the numbers of a fixed window. */
export interface KoaRateLimitNames<C extends AnyContext> {
  /** Requests in a window of `duration`, or a function that gives them: `policy: fixedWindow({ limit: max, window: duration })`. */
  readonly max?: (number | ((context: C) => number | Promise<number>)) | undefined;
  /** The window of `max`; milliseconds, or text as in other durations; default one hour. */
  readonly duration?: Duration | undefined;
}

/** `C` is the program's own context, where it has one: `rateLimit<AppContext>({ … })`. */
export interface RateLimitOptions<C extends AnyContext = Context>
  extends RequestLimitOptions<[context: C]>,
    KoaRateLimitNames<C> {
  /** Answers a denied request itself, or calls `next`. The headers are set already. */
  readonly handler?: ((context: C, next: Next, decision: Decision) => unknown) | undefined;
}

/** What to give in place of options of `koa-ratelimit` that are not options here. */
const REMEDIES = {
  driver: 'leave it out, or give store: redisStore(client)',
  db: 'leave it out, or give store: redisStore(client)',
  id: 'give keyGenerator, and skip for what was false',
  whitelist: 'give allowList',
  blacklist: 'give denyList',
  errorMessage: 'give message',
  status: 'give statusCode',
  onLimit: 'give onLimited',
  headers: 'give legacyHeaders and standardHeaders; their names are fixed',
  disableHeader: 'give legacyHeaders and standardHeaders',
};

/**
 * Splits what only Koa has from what all adapters share.
 * @throws RangeError, TypeError naming the option that is wrong
 */
export function readOptions<C extends AnyContext>(options: RateLimitOptions<C>) {
  checkOptions('rateLimit', options, [...REQUEST_LIMIT_OPTIONS, 'max', 'duration', 'handler'], REMEDIES);
  const { handler, ...rest } = options ?? {};
  checkHandler('rateLimit', handler, rest);
  const names = { limit: ['max'], window: 'duration', standard: '1h' } as const;
  return { handler, shared: readFixedWindow<[context: C]>('rateLimit', rest, names) };
}
