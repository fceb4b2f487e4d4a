import {
  limitRequests,
  PROBLEM_TYPE,
  problemOf,
  type RateLimiter,
  type RequestLimitOptions,
  runWithRequest,
  writeHeaders,
} from '@sluice/core';
import type { Context, Middleware, Next } from 'koa';
import { keepHeaders } from './keep-headers.js';
import { KoaRequestView } from './request.js';

export type RateLimitOptions = RequestLimitOptions<[context: Context]>;

export interface RateLimitMiddleware {
  (context: Context, next: Next): Promise<void>;
  /** For `peek` and `reset`. @throws TypeError when `policy` or `policies` is a function */
  readonly limiter: RateLimiter;
}

/**
 * Lets requests through as a policy says, and puts the decision into `ctx.state.rateLimit`. A request beyond it is answered
 * with 429, `Retry-After` and a problem body; each answer tells `RateLimit` and `RateLimit-Policy`. What a
 * request holds of a `concurrency` policy is released when its response is over. A key that cannot be made is thrown as an error of status 400, a store that does not answer as one of 503.
 * @throws RangeError, TypeError naming the option that is wrong
 */
export function rateLimit(options: RateLimitOptions): RateLimitMiddleware {
  const limit = limitRequests('rateLimit', options);
  const middleware = async (context: Context, next: Next): Promise<void> => {
    const decision = await limit.decide(new KoaRequestView(context), context);
    if (decision === undefined) return next();
    limit.releaseAfter(decision, context.res);
    if (!context.headerSent) {
      writeHeaders(decision, {
        get: (name) => context.response.get(name),
        set: (name, value) => context.set(name, value),
      });
    }
    if (!decision.allowed) {
      context.status = 429;
      context.type = PROBLEM_TYPE;
      context.body = JSON.stringify(problemOf(decision));
      return;
    }
    context.state.rateLimit = decision;
    try {
      await next();
    } catch (error) {
      keepHeaders(error, context);
      throw error;
    }
  };
  return Object.defineProperty(middleware, 'limiter', { get: () => limit.limiter }) as RateLimitMiddleware;
}

/**
 * Makes the request known to all that is called while it is served: decorated methods find addresses, users and request
 * fields by it. Put it first.
 */
export function requestContext(): Middleware {
  return (context, next) => runWithRequest(new KoaRequestView(context), next);
}
