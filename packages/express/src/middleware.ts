import {
  asError,
  type Decision,
  isPromise,
  isRateLimitExceededError,
  isStoreUnavailableError,
  limitRequests,
  NodeResponseView,
  type OwnLimiter,
  problemOfError,
  type Reply,
  replyTo,
  runWithRequest,
  withLimiter,
  writeErrorHeaders,
} from '@sluice/core';
import type { ErrorRequestHandler, NextFunction, Request, RequestHandler, Response } from 'express';
import { type RateLimitOptions, readOptions } from './options.js';
import { ExpressRequestView } from './request.js';

export interface RateLimitMiddleware extends OwnLimiter {
  (request: Request, response: Response, next: NextFunction): void;
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
 * Lets requests through as a policy says: for all routes (`app.use`), a router, or one route. A request beyond it is answered
 * with 429, `Retry-After` and a problem body; each answer tells `RateLimit` and `RateLimit-Policy`. What a request holds of a
 * `concurrency` policy is released when its response is over. A key that cannot be made goes to
 * `next` as an error of status 400; while a store is out its `failurePolicy` decides.
 * @throws RangeError, TypeError naming the option that is wrong
 */
export function rateLimit(options: RateLimitOptions): RateLimitMiddleware {
  const { shared, handler, requestPropertyName } = readOptions(options);
  const limit = limitRequests('rateLimit', shared);
  const passes = async (request: Request, response: Response, next: NextFunction): Promise<boolean> => {
    const view = new ExpressRequestView(request);
    const judged = limit.handle(view, new NodeResponseView(response), request, response);
    const verdict = isPromise(judged) ? await judged : judged;
    if (verdict.outcome === 'gone') return false;
    const { outcome, decision } = verdict;
    if (outcome === 'passed') {
      if (decision !== undefined) Object.assign(request, { [requestPropertyName]: decision });
      return true;
    }
    if (handler !== undefined && decision !== undefined) await handler(request, response, next, decision);
    else send(response, await verdict.reply());
    return false;
  };
  const middleware = async (request: Request, response: Response, next: NextFunction): Promise<void> => {
    try {
      if (!(await passes(request, response, next))) return;
    } catch (error) {
      next(asError('rateLimit', error));
      return;
    }
    next();
  };
  return withLimiter(middleware, limit);
}

/**
 * Makes the request known to all that is called while it is served: decorated methods find addresses, users and request
 * fields by it. Put it before the routes, and before what logs people in or after: it reads when asked.
 */
export function requestContext(): RequestHandler {
  return (request, _response, next) => runWithRequest(new ExpressRequestView(request), next);
}

/**
 * Answers our errors as `rateLimit` answers: denials of decorated methods, of `acquire` and of `throw: true` (429), keys that cannot be
 * made (400), a store that is out (503). Express would answer with its own page, and with a stack trace in the log for
 * each. Put it after the routes; other errors pass on.
 */
export function rateLimitErrors(): ErrorRequestHandler {
  return (error, request, response, next) => {
    const problem = problemOfError(error);
    if (problem === undefined || response.headersSent) {
      next(error);
      return;
    }
    if (isRateLimitExceededError(error) || isStoreUnavailableError(error)) {
      writeErrorHeaders(error, new NodeResponseView(response));
    }
    send(response, replyTo(problem, request.get('accept')));
  };
}

function send(response: Response, { status, type, body }: Reply): void {
  if (response.headersSent) return;
  response.setHeader('Content-Type', type); // as it is: `type` and `send` of a string would add a charset
  response.status(status).send(Buffer.from(body));
}
