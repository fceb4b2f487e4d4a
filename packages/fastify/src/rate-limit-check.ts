import { checkOptions } from '@sluice/core/internal';
import { type OwnLimiter, type RequestLimit, withLimiter } from '@sluice/http';
import type { FastifyRequest, RawServerBase, RouteGenericInterface } from 'fastify';
import type { Bans } from './bans.js';
import type { Args, RateLimitOptions } from './options.js';
import { FastifyRequestView } from './request.js';

/** The result of a check. */
export type RateLimitCheckResult =
  | {
      /** The request is on the `allowList` or skipped: it was not counted. */
      readonly isAllowed: true;
      readonly key: string;
    }
  | {
      /** The request was counted; `isExceeded` is true for a denial. */
      readonly isAllowed: false;
      readonly key: string;
      readonly max: number;
      /** Milliseconds. */
      readonly timeWindow: number;
      readonly remaining: number;
      /** Milliseconds until every permit is back. */
      readonly ttl: number;
      /** The same in whole seconds, rounded up. */
      readonly ttlInSeconds: number;
      readonly isExceeded: boolean;
      /** Did the key have more denials than `ban`? */
      readonly isBanned: boolean;
    };

/** Decides on a request when you call it, and leaves the response to you. */
export interface RateLimitCheck extends OwnLimiter {
  /**
   * Counts the request, and puts the decision at `request.rateLimit`. It holds permits of a `concurrency` policy until
   * `check.limiter.release(request.rateLimit)`.
   * @param options `increment: false` counts nothing: `isExceeded` says whether a request would be denied now
   * @throws KeyResolutionError; RequestForbiddenError for the `denyList`; StoreUnavailableError if the failure policy denies
   */
  (
    request: FastifyRequest<RouteGenericInterface, RawServerBase>,
    options?: { readonly increment?: boolean | undefined },
  ): Promise<RateLimitCheckResult>;
}

export function rateLimitCheck(limit: RequestLimit<Args>, bans: Bans | undefined): RateLimitCheck {
  const check = async (
    request: FastifyRequest,
    options: { readonly increment?: boolean | undefined } = {},
  ): Promise<RateLimitCheckResult> => {
    checkOptions('rateLimit check', options, ['increment']);
    const peek = options.increment === false;
    const { key, decision } = await limit.check(new FastifyRequestView(request), [request], peek);
    if (decision === undefined) return { isAllowed: true, key };
    const { allowed, limit: max, window: timeWindow, remaining, resetAfter: ttl } = decision;
    return {
      isAllowed: false,
      key,
      max,
      timeWindow,
      remaining,
      ttl,
      ttlInSeconds: Math.ceil(ttl / 1000),
      isExceeded: !allowed,
      isBanned: !allowed && bans !== undefined && (await bans.reached(key, decision, peek)),
    };
  };
  return withLimiter(check as RateLimitCheck, limit);
}

/** Options that have no effect: a check sends no response, and ends before the response. */
const WITHOUT_ANSWER = [
  'handler',
  'errorResponseBuilder',
  'message',
  'throw',
  'statusCode',
  'onLimited',
  'onExceeding',
  'onExceeded',
  'onBanReach',
  'dryRun',
  'timeout',
  'skipSuccessfulRequests',
  'skipFailedRequests',
  'requestWasSuccessful',
  'standardHeaders',
  'legacyHeaders',
  'partitionKey',
] as const satisfies readonly (keyof RateLimitOptions)[];

/** The options of `app.createRateLimit`. */
export type CreateRateLimitOptions = Omit<RateLimitOptions, (typeof WITHOUT_ANSWER)[number]>;

/** @throws TypeError for options that would have no effect */
export function checkOptionsOfCheck(options: CreateRateLimitOptions): void {
  const spare = WITHOUT_ANSWER.find((name) => (options as RateLimitOptions | null)?.[name] !== undefined);
  if (spare !== undefined) {
    throw new TypeError(
      `createRateLimit: ${spare} has no effect: your code sends the response after a check`,
    );
  }
}
