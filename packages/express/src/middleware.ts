import {
  type Decision,
  isRateLimitExceededError,
  limitRequests,
  PROBLEM_TYPE,
  problemOf,
  type RateLimiter,
  type RequestLimitOptions,
  runWithRequest,
  writeHeaders,
} from '@sluice/core';
import type { ErrorRequestHandler, NextFunction, Request, RequestHandler, Response } from 'express';
import { ExpressRequestView } from './request.js';

export type RateLimitOptions = RequestLimitOptions<[request: Request, response: Response]>;

export interface RateLimitMiddleware {
  (request: Request, response: Response, next: NextFunction): void;
  /** For `peek` and `reset`. @throws TypeError when `policy` or `policies` is a function */
  readonly limiter: RateLimiter;
}

declare global {
  namespace Express {
    interface Request {
      /** The decision of the last `rateLimit` that let this request pass. */
      rateLimit?: Decision;
    }
  }
}

/**
 * Lets requests through as a policy says: for all routes (`app.use`) or for one. A request beyond it is answered with 429,
 * `Retry-After` and a problem body; each answer tells `RateLimit` and `RateLimit-Policy`. What a request holds of a
 * `concurrency` policy is released when its response is over. A key that cannot be made goes to
 * `next` as an error of status 400, a store that does not answer as one of 503.
 * @throws RangeError, TypeError naming the option that is wrong
 */
export function rateLimit(options: RateLimitOptions): RateLimitMiddleware {
  const limit = limitRequests('rateLimit', options);
  const middleware = async (request: Request, response: Response, next: NextFunction): Promise<void> => {
    let decision: Decision | undefined;
    try {
      decision = await limit.decide(new ExpressRequestView(request), request, response);
    } catch (error) {
      next(error);
      return;
    }
    if (decision?.allowed === false) {
      deny(decision, response);
      return;
    }
    if (decision !== undefined) {
      limit.releaseAfter(decision, response);
      writeDecision(decision, response);
      request.rateLimit = decision;
    }
    next();
  };
  return Object.defineProperty(middleware, 'limiter', {
    get: () => limit.limiter,
  }) as unknown as RateLimitMiddleware;
}

/**
 * Makes the request known to all that is called while it is served: decorated methods find addresses, users and request
 * fields by it. Put it before the routes, and before what logs people in or after: it reads when asked.
 */
export function requestContext(): RequestHandler {
  return (request, _response, next) => runWithRequest(new ExpressRequestView(request), next);
}

/**
 * Answers what a decorated method or `acquire` threw as `rateLimit` answers. Express would answer 429 by itself, but with its
 * own page, and with a stack trace in the log for each denial. Put it after the routes; other errors pass on.
 */
export function rateLimitErrors(): ErrorRequestHandler {
  return (error, _request, response, next) => {
    if (isRateLimitExceededError(error) && !response.headersSent) deny(error.decision, response);
    else next(error);
  };
}

function deny(decision: Decision, response: Response): void {
  if (response.headersSent) return; // somebody answered while the store was asked
  writeDecision(decision, response);
  const problem = JSON.stringify(problemOf(decision));
  response.status(429).type(PROBLEM_TYPE).send(problem);
}

function writeDecision(decision: Decision, response: Response): void {
  if (response.headersSent) return;
  writeHeaders(decision, {
    get: (name) => response.getHeader(name),
    set: (name, value) => response.setHeader(name, value),
  });
}
