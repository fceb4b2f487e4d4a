import type { Decision, LimiterKey, RateLimiter } from '@sluice/core';
import type { MaybePromise } from '@sluice/core/internal';
import {
  answerError,
  asError,
  NodeResponseView,
  type OwnLimiter,
  type Reply,
  RequestLimit,
  runWithRequest,
  type Verdict,
  withLimiter,
} from '@sluice/http';
import type { ErrorRequestHandler, NextFunction, Request, RequestHandler, Response } from 'express';
import { denialInfo, type RateLimitInfo } from './info.js';
import { type Args, type RateLimitOptions, readOptions } from './options.js';
import { ExpressRequestView } from './request.js';

export interface RateLimitMiddleware extends OwnLimiter {
  (request: Request, response: Response, next: NextFunction): void;
  /** Clears the count of a key. @throws TypeError as `limiter` */
  resetKey(key: LimiterKey): Promise<void>;
  /** Returns what a key has used, and when all permits are back. @throws TypeError as `limiter` */
  getKey(key: LimiterKey): Promise<ClientRateLimitInfo>;
}

/** The usage of a key, with the names of `express-rate-limit`. */
export interface ClientRateLimitInfo {
  readonly totalHits: number;
  readonly resetTime: Date;
}

declare global {
  namespace Express {
    interface Request {
      /** The decision of the last `rateLimit`. `handler`, `message` and `onLimited` find their denial here. */
      rateLimit?: RateLimitInfo;
    }
  }
}

type Decided = Request & Record<string, RateLimitInfo>;
type WritableInfo = { -readonly [K in keyof RateLimitInfo]: RateLimitInfo[K] };

/**
 * Limits requests by a policy: for all routes (`app.use`), a router, or one route. A request over the limit gets a 429 with
 * `Retry-After` and a problem body. Every response has `RateLimit` and `RateLimit-Policy`. Permits of a `concurrency` policy are
 * released when the response is over. If the client did not send a key, `next` gets an error of status 400; if the server did not
 * provide one, of status 500. While a store is out, its `failurePolicy` decides.
 * @throws RangeError, TypeError naming the invalid option
 */
export function rateLimit(options: RateLimitOptions): RateLimitMiddleware {
  const { shared, handler, requestPropertyName, nameFor } = readOptions(options);
  const { statusCode = 429 } = shared;
  const attach = ([request]: Args, decision: Decision) => {
    const { limit, remaining, allowed, cost, resetAfter } = decision;
    const info = decision as WritableInfo; // the decision itself: `refund` accepts no copies
    info.used = limit - remaining + (allowed ? 0 : cost);
    info.current = info.used;
    info.resetTime = new Date(Date.now() + resetAfter);
    (request as Decided)[requestPropertyName] = info;
  };
  const limit = new RequestLimit('rateLimit', shared, attach, nameFor);
  const finish = async (
    request: Request,
    response: Response,
    next: NextFunction,
    deciding: MaybePromise<Verdict>,
  ): Promise<void> => {
    try {
      const verdict = await deciding;
      if (verdict.outcome === 'aborted') return;
      if (verdict.outcome === 'denied') {
        const { decision, status = statusCode } = verdict;
        if (handler !== undefined && decision !== undefined) {
          await handler(request, response, next, denialInfo(decision, status));
        } else {
          send(response, await verdict.reply());
        }
        return;
      }
    } catch (error) {
      next(asError('rateLimit', error));
      return;
    }
    next();
  };
  const middleware = (request: Request, response: Response, next: NextFunction): MaybePromise<void> => {
    let verdict: MaybePromise<Verdict>;
    try {
      const view = new ExpressRequestView(request);
      verdict = limit.handle(view, new NodeResponseView(response), request, response);
    } catch (error) {
      next(asError('rateLimit', error));
      return;
    }
    // A request that passes in memory needs no promise.
    if ('outcome' in verdict && verdict.outcome === 'passed') next();
    else return finish(request, response, next, verdict);
  };
  return Object.assign(withLimiter(middleware, limit), {
    resetKey: (key: LimiterKey) => limit.limiter.reset(key),
    getKey: (key: LimiterKey) => countOf(limit.limiter, key),
  });
}

async function countOf(limiter: RateLimiter, key: LimiterKey): Promise<ClientRateLimitInfo> {
  const { limit, remaining, resetAfter } = await limiter.peek(key);
  return { totalHits: limit - remaining, resetTime: new Date(Date.now() + resetAfter) };
}

/**
 * Makes the request available to all code that serves it: decorated methods read addresses, users and request fields from it. Put it
 * before the routes. Its order with authentication does not matter: values are read when they are needed.
 */
export function requestContext(): RequestHandler {
  return (request, _response, next) => runWithRequest(new ExpressRequestView(request), next);
}

/**
 * Answers Sluice's errors as `rateLimit` does: denials of decorated methods, of `acquire` and of `throw: true` (429), keys that clients did
 * not send (400), a store that is out (503). Express's own handler would send its error page and log a stack trace each time. Put
 * this after the routes; it passes other errors on.
 */
export function rateLimitErrors(): ErrorRequestHandler {
  return (error, request, response, next) => {
    const reply = response.headersSent
      ? undefined
      : answerError(error, request.get('accept'), new NodeResponseView(response));
    if (reply === undefined) next(error);
    else send(response, reply);
  };
}

function send(response: Response, { status, type, body }: Reply): void {
  if (response.headersSent) return;
  // Not `send`: it would add a charset, and hash the body for an ETag that no client of a refusal needs.
  response.statusCode = status;
  response.setHeader('Content-Type', type);
  response.setHeader('Content-Length', Buffer.byteLength(body)); // also for HEAD, whose body Node drops
  response.end(body);
}
