import { type Decision, isRateLimitExceededError, isStoreUnavailableError } from '@sluice/core';
import {
  asError,
  type OwnLimiter,
  type RateLimitProblem,
  RequestLimit,
  runWithRequest,
  webErrorResponse,
  withLimiter,
} from '@sluice/http';
import type { Context, Env, MiddlewareHandler, TypedResponse } from 'hono';
import type { GetConnInfo } from 'hono/conninfo';
import { type RateLimitOptions, readOptions } from './options.js';
import { HonoRequestView, nodeOf } from './request.js';
import { alreadySent, HonoResponseView } from './response.js';

/** What a limit adds to the context: the decision, also a denial. It is undefined for a request that was skipped. */
export interface RateLimitVariables {
  rateLimit: Decision | undefined;
}

/** The response to a denied request, as clients of Hono's RPC see it. */
export type RateLimitResponse = Response & TypedResponse<RateLimitProblem, 429, 'json'>;

/** The middleware: on a route, its 429 becomes a part of the route's RPC type. */
export type RateLimitHandler = MiddlewareHandler<
  { Variables: RateLimitVariables },
  string,
  // biome-ignore lint/complexity/noBannedTypes: what Hono has for no input
  {},
  RateLimitResponse
>;

export interface RateLimitMiddleware extends OwnLimiter, RateLimitHandler {}

/**
 * Limits requests by a policy, and puts each decision, also a denial, at `c.var.rateLimit`. A request over the limit gets a 429 with
 * `Retry-After` and a problem (RFC 9457). Every response has `RateLimit` and `RateLimit-Policy`. Permits of a `concurrency` policy are
 * released when the response is over. If the client did not send a key, an error of status 400 is thrown; if the server did not
 * provide one, of status 500. With `throw` a denial is thrown, too. While a store is out, its `failurePolicy` decides.
 * @param options or a function of the bindings `c.env`, which is called once, for the first request
 * @throws RangeError, TypeError naming the invalid option; of a function, at the first request
 */
// biome-ignore lint/suspicious/noExplicitAny: Hono's own types take whatever a program adds
export function rateLimit<E extends Env = any>(options: RateLimitOptions<E>): RateLimitMiddleware;
// biome-ignore lint/suspicious/noExplicitAny: as above
export function rateLimit<E extends Env = any>(
  options: (env: E['Bindings']) => RateLimitOptions<E>,
): RateLimitHandler;
export function rateLimit<E extends Env>(
  options: RateLimitOptions<E> | ((env: E['Bindings']) => RateLimitOptions<E>),
): RateLimitHandler {
  if (typeof options !== 'function') return limitBy(options);
  let limit: RateLimitMiddleware | undefined;
  return (context, next) => {
    limit ??= limitBy(options(context.env as E['Bindings']));
    return limit(context, next);
  };
}

function limitBy<E extends Env>(options: RateLimitOptions<E>): RateLimitMiddleware {
  const { shared, handler, getConnInfo } = readOptions(options);
  const limit = new RequestLimit<[context: Context<E>]>('rateLimit', shared, ([context], decision) => {
    (context as unknown as Context).set('rateLimit', decision);
    return decision;
  });
  const middleware: RateLimitHandler = async (given, next) => {
    const context = given as unknown as Context<E>;
    const [response, isFirst] = HonoResponseView.of(given);
    let isPassed = false;
    const pass = () => {
      isPassed = true;
      response.announce(given);
      return next();
    };
    try {
      const verdict = await limit.handle(new HonoRequestView(given, getConnInfo), response, context);
      if (verdict.outcome === 'aborted') return gone(response) as RateLimitResponse;
      if (verdict.outcome === 'passed') await pass();
      else if (handler === undefined || verdict.decision === undefined)
        given.res = response.deny(await verdict.reply());
      else {
        response.announce(given);
        const answered = await handler(context, pass, verdict.decision);
        // `next` returns the context.
        if (answered !== undefined && answered !== given) given.res = answered as Response;
      }
    } catch (error) {
      // A handler may throw any value: Hono passes it on as it is.
      const thrown = isPassed ? error : asError('rateLimit', error);
      if (response.begun && thrown instanceof Error && 'status' in thrown)
        return alreadySent() as RateLimitResponse;
      // The response to the error is made of the context's own headers.
      response.announce(given);
      // A handler threw what Hono takes for no error. Node's own response ends by itself.
      if (isFirst && nodeOf(given) === undefined) response.over(500, true);
      throw thrown instanceof Error ? answerable(thrown) : thrown;
    }
    if (isFirst) finish(given, response);
    return undefined;
  };
  return withLimiter(middleware, limit);
}

/** There is nothing to answer: the client disconnected, or the response had begun and was ended. */
const gone = (response: HonoResponseView): Response =>
  response.begun ? alreadySent() : new Response(null, { status: 408 });

function finish(context: Context, response: HonoResponseView): void {
  const { error } = context;
  // Hono answers an error that a handler throws, but nothing ends a response that the handler had begun.
  if (response.begun && (isRateLimitExceededError(error) || isStoreUnavailableError(error))) {
    response.endBegun();
    context.res = alreadySent();
  }
  response.applyTo(context);
}

/** Hono answers an error that has `getResponse` with it, unless `app.onError` does. */
function answerable(error: Error): Error {
  if (errorResponse(error) === undefined || 'getResponse' in error) return error;
  return Object.defineProperty(error, 'getResponse', { value: () => errorResponse(error) });
}

/**
 * The response to one of Sluice's errors, for `app.onError`: a thrown denial (429), a key that the client did not send (400), a store that is out
 * (503). `undefined` for other errors.
 */
export function errorResponse(error: unknown, context?: Context): Response | undefined {
  const known = context && HonoResponseView.known(context);
  return webErrorResponse(error, context?.req.header('accept'), known);
}

/**
 * Makes the request available to all code that serves it: decorated methods read addresses, users and request fields from it. Put it first.
 */
export function requestContext(options: { readonly getConnInfo?: GetConnInfo } = {}): MiddlewareHandler {
  return (context, next) => runWithRequest(new HonoRequestView(context, options.getConnInfo), next);
}
