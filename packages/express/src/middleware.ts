import type { Decision, LimiterKey, PolicyDecision, RateLimiter } from '@sluice/core';
import { DECISION_OF, type MaybePromise } from '@sluice/core/internal';
import {
  asError,
  NodeResponseView,
  type OwnLimiter,
  RequestLimit,
  runWithRequest,
  type Verdict,
  withLimiter,
} from '@sluice/http';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { send } from './answer.js';
import type { ClientRateLimitInfo, DenialInfo, RateLimitInfo } from './info.js';
import { type Args, type RateLimitOptions, readOptions } from './options.js';
import { ExpressRequestView } from './request.js';

export interface RateLimitMiddleware extends OwnLimiter {
  (request: Request, response: Response, next: NextFunction): void;
  /** Clears the count of a key. @throws TypeError as `limiter` */
  resetKey(key: LimiterKey): Promise<void>;
  /** Returns what a key has used, and when all permits are back. @throws TypeError as `limiter` */
  getKey(key: LimiterKey): Promise<ClientRateLimitInfo>;
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

/**
 * Limits requests by a policy: for all routes (`app.use`), a router, or one route. A request over the limit gets a 429 with
 * `Retry-After` and a problem (RFC 9457). Every response has `RateLimit` and `RateLimit-Policy`. Permits of a `concurrency` policy are
 * released when the response is over. If the client did not send a key, `next` gets an error of status 400; if the server did not
 * provide one, of status 500. While a store is out, its `failurePolicy` decides.
 * @throws RangeError, TypeError naming the invalid option
 */
export function rateLimit(options: RateLimitOptions): RateLimitMiddleware {
  const { shared, handler, requestPropertyName, nameFor } = readOptions(options);
  const { statusCode = 429 } = shared;
  const attach = ([request]: Args, decision: Decision) => {
    const info = new DecisionInfo(decision);
    (request as Decided)[requestPropertyName] = info;
    return info;
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
          await handler(request, response, next, denialInfo(decision as DecisionInfo, status));
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

/** What users see of a decision. The fields are written one by one, because each request makes one: a loop takes three times as long. */
class DecisionInfo implements RateLimitInfo {
  readonly allowed: boolean;
  readonly name: string;
  readonly policy: string;
  readonly cost: number;
  readonly limit: number;
  readonly window: number;
  readonly remaining: number;
  readonly retryAfter: number;
  readonly resetAfter: number;
  readonly waited: number;
  readonly source: string;
  readonly degraded: boolean;
  readonly used: number;
  readonly current: number;
  readonly resetTime: Date;
  declare readonly blockedFor?: number;
  readonly #decision: Decision;

  constructor(decision: Decision) {
    const { limit, remaining, allowed, cost, resetAfter, blockedFor } = decision;
    this.allowed = allowed;
    this.name = decision.name;
    this.policy = decision.policy;
    this.cost = cost;
    this.limit = limit;
    this.window = decision.window;
    this.remaining = remaining;
    this.retryAfter = decision.retryAfter;
    this.resetAfter = resetAfter;
    this.waited = decision.waited;
    this.source = decision.source;
    this.degraded = decision.degraded;
    this.used = limit - remaining + (allowed ? 0 : cost);
    this.current = this.used;
    this.resetTime = new Date(Date.now() + resetAfter);
    if (blockedFor !== undefined) this.blockedFor = blockedFor;
    this.#decision = decision;
  }

  get moreAfter(): number {
    return this.#decision.moreAfter;
  }

  get policies(): readonly PolicyDecision[] {
    return this.#decision.policies;
  }

  /** For `refund`. */
  get [DECISION_OF](): Decision {
    return this.#decision;
  }

  toJSON(): RateLimitInfo {
    const { moreAfter, policies } = this;
    return { ...this, moreAfter, policies };
  }

  /** For `console.log`. */
  [Symbol.for('nodejs.util.inspect.custom')](): RateLimitInfo {
    return this.toJSON();
  }
}

/** What the request has of a denial, with its answer. */
const denialInfo = (info: DecisionInfo, statusCode: number): DenialInfo =>
  Object.assign(info, {
    statusCode,
    message: 'Too many requests, please try again later.',
  });

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
