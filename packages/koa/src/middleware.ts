import { isRateLimitExceededError, isStoreUnavailableError } from '@sluice/core';
import { isPromise } from '@sluice/core/internal';
import {
  asError,
  keepHeaders,
  NodeResponseView,
  type OwnLimiter,
  problemOfError,
  RequestLimit,
  runWithRequest,
  type Verdict,
  withLimiter,
} from '@sluice/http';
import type { Context, Middleware, Next } from 'koa';
import { type AnyContext, type RateLimitOptions, readOptions } from './options.js';
import { KoaRequestView } from './request.js';

export interface RateLimitMiddleware<C extends AnyContext = Context> extends OwnLimiter {
  (context: C, next: Next): Promise<void>;
}

/**
 * Limits requests by a policy, and puts each decision, also a denial, at `ctx.state.rateLimit`. A request over the limit gets a 429 with
 * `Retry-After` and a problem (RFC 9457). Every response has `RateLimit` and `RateLimit-Policy`. Permits of a `concurrency` policy are
 * released when the response is over. If the client did not send a key, an error of status 400 is thrown; if the server did not
 * provide one, of status 500. With `throw` a denial is thrown, too. While a store is out, its `failurePolicy` decides.
 * @throws RangeError, TypeError naming the invalid option
 */
export function rateLimit<C extends AnyContext = Context>(
  options: RateLimitOptions<C>,
): RateLimitMiddleware<C> {
  const { shared, handler } = readOptions(options);
  const limit = new RequestLimit('rateLimit', shared, ([context], decision) => {
    context.state.rateLimit = decision;
    return decision;
  });
  const middleware = async (context: C, next: Next): Promise<void> => {
    let verdict: Verdict;
    try {
      const judged = limit.handle(new KoaRequestView(context), new NodeResponseView(context.res), context);
      verdict = isPromise(judged) ? await judged : judged;
    } catch (error) {
      // Code that catches the error and only sets a body would answer with 200.
      const status = problemOfError(error)?.status;
      if (status !== undefined) context.status = status;
      throw error;
    }
    if (verdict.outcome === 'aborted') return;
    keepHeadersOnError(context);
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
      const { response } = context; // each of the context's own setters is a call more
      response.status = status;
      response.set('Content-Type', type); // as it is: `type` looks it up, and would add a charset
      response.body = body;
      return;
    }
    await next();
  };
  return withLimiter(middleware, limit);
}

const KEEPS_HEADERS = Symbol.for('sluice.koa.keeps');

/**
 * Koa answers an error without the headers of the response, so they are added to the error. Only then: other code may catch it first, or
 * throw it for several requests at once. Koa calls `onerror` also for errors that do not pass through the limit: of a body that is no JSON,
 * or of middleware in front of the limit.
 */
function keepHeadersOnError(context: AnyContext): void {
  const own = context as unknown as { onerror(error: unknown): void; [KEEPS_HEADERS]?: true };
  if (own[KEEPS_HEADERS]) return;
  own[KEEPS_HEADERS] = true;
  const answer = own.onerror;
  own.onerror = (error) => {
    if (!context.headerSent) keepHeaders(error, context.response.headers);
    answer.call(context, error);
    // Koa does not end a response that was already started, so a denial ends it here.
    if (isRateLimitExceededError(error) || isStoreUnavailableError(error)) {
      new NodeResponseView(context.res).endBegun();
    }
  };
}

/**
 * Makes the request available to all code that serves it: decorated methods read addresses, users and request fields from it.
 * Put it first.
 */
export function requestContext(): Middleware {
  return (context, next) => runWithRequest(new KoaRequestView(context), next);
}
