import {
  asError,
  isPromise,
  isRateLimitExceededError,
  isStoreUnavailableError,
  keepHeaders,
  limitRequests,
  NodeResponseView,
  type OwnLimiter,
  problemOfError,
  runWithRequest,
  type Verdict,
  withLimiter,
} from '@sluice/core';
import type { Context, Middleware, Next } from 'koa';
import { type AnyContext, type RateLimitOptions, readOptions } from './options.js';
import { KoaRequestView } from './request.js';

export interface RateLimitMiddleware<C extends AnyContext = Context> extends OwnLimiter {
  (context: C, next: Next): Promise<void>;
}

/**
 * Lets requests through as a policy says, and puts each decision, denied ones too, into `ctx.state.rateLimit`. A request beyond it is answered
 * with 429, `Retry-After` and a problem body; each answer tells `RateLimit` and `RateLimit-Policy`. What a request holds of a
 * `concurrency` policy is released when its response is over. A key that the client did not send is thrown as an error of status 400, one that the server did not provide as one of 500, and
 * with `throw` a denial as one of 429; while a store is out its `failurePolicy` decides.
 * @throws RangeError, TypeError naming the option that is wrong
 */
export function rateLimit<C extends AnyContext = Context>(
  options: RateLimitOptions<C>,
): RateLimitMiddleware<C> {
  const { shared, handler } = readOptions(options);
  const limit = limitRequests('rateLimit', shared, ([context], decision) => {
    context.state.rateLimit = decision;
  });
  const middleware = async (context: C, next: Next): Promise<void> => {
    let verdict: Verdict;
    try {
      const judged = limit.handle(new KoaRequestView(context), new NodeResponseView(context.res), context);
      verdict = isPromise(judged) ? await judged : judged;
    } catch (error) {
      // Who catches it and writes no more than a body would answer with 200.
      const status = problemOfError(error)?.status;
      if (status !== undefined) context.status = status;
      throw error;
    }
    if (verdict.outcome === 'gone') return;
    if (verdict.outcome === 'denied') {
      const { decision } = verdict;
      if (handler !== undefined && decision !== undefined) {
        try {
          await handler(context, next, decision);
        } catch (error) {
          throw asError('rateLimit', error);
        }
        return;
      }
      const reply = verdict.reply();
      const { status, type, body } = isPromise(reply) ? await reply : reply;
      context.status = status;
      context.type = type;
      context.body = body;
      return;
    }
    try {
      await next();
    } catch (error) {
      keepOnError(context);
      throw error;
    }
  };
  return withLimiter(middleware, limit);
}

const KEEPS = Symbol.for('sluice.koa.keeps');

/** Not before Koa answers the error itself: others may catch it first, and it may be thrown for several requests at once. */
function keepOnError(context: AnyContext): void {
  const own = context as unknown as { onerror(error: unknown): void; [KEEPS]?: true };
  if (own[KEEPS]) return;
  own[KEEPS] = true;
  const answer = own.onerror;
  own.onerror = (error) => {
    if (!context.headerSent) keepHeaders(error, context.response.headers);
    answer.call(context, error);
    // Koa leaves it to whoever has begun; a denial comes in their place.
    if (isRateLimitExceededError(error) || isStoreUnavailableError(error)) {
      new NodeResponseView(context.res).endBegun();
    }
  };
}

/**
 * Makes the request known to all that is called while it is served: decorated methods find addresses, users and request
 * fields by it. Put it first.
 */
export function requestContext(): Middleware {
  return (context, next) => runWithRequest(new KoaRequestView(context), next);
}
