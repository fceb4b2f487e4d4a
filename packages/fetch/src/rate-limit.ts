import {
  type OwnLimiter,
  PendingResponse,
  RequestLimit,
  type RequestLimitOptions,
  webErrorResponse,
  webResponseOf,
  withHeaders,
  withLimiter,
} from '@sluice/http';
import { type RequestInfo, viewOf } from './request.js';

/** The options of every adapter's `rateLimit`; functions get `(request, info)`. */
export type RateLimitOptions = RequestLimitOptions<[request: Request, info: RequestInfo]>;

export interface FetchRateLimit extends OwnLimiter {
  /**
   * Decides on a request: `undefined` lets it pass, a response denies it.
   * @throws KeyResolutionError (400, or 500 if you did not provide the key), StoreUnavailableError (503), and with `throw` RateLimitExceededError
   */
  (request: Request, info?: RequestInfo): Promise<Response | undefined>;
  /**
   * Adds the headers of all limits to the response of a request that passed. Call it for every such request: only then permits of a
   * `concurrency` policy are released, and requests that do not count (`skipFailedRequests`) are refunded.
   */
  complete(request: Request, response: Response): Response;
}

/** All limits of a request share one, so their headers are merged. */
const pending = new WeakMap<Request, PendingResponse>();

/**
 * Limits web-standard requests: Hono, Next.js, Bun, Deno. A request over the limit gets a 429 with `Retry-After` and a problem (RFC 9457),
 * a request on the `denyList` a 403. `complete` adds `RateLimit` and `RateLimit-Policy` to the other responses.
 * @throws RangeError, TypeError naming the invalid option
 */
export function rateLimit(options: RateLimitOptions): FetchRateLimit {
  const limit = new RequestLimit('rateLimit', options);
  const decide = async (request: Request, info: RequestInfo = {}): Promise<Response | undefined> => {
    const response = pending.get(request) ?? new PendingResponse(request.signal);
    pending.set(request, response);
    const verdict = await limit.handle(viewOf(request, info), response, request, info);
    if (verdict.outcome === 'passed') return undefined;
    if (verdict.outcome === 'aborted') return new Response(null, { status: 408 }); // the client disconnected
    return complete(request, webResponseOf(await verdict.reply(), response.headers));
  };
  return withLimiter(Object.assign(decide, { complete }), limit);
}

/**
 * The response to one of Sluice's errors: a thrown denial (429), a key that the client did not send (400), a store that is out (503).
 * `undefined` for other errors. Completes the request for the limits that it has passed.
 */
export function errorResponse(error: unknown, request: Request): Response | undefined {
  const limited = pending.get(request);
  const response = webErrorResponse(error, request.headers.get('accept') ?? undefined, limited);
  if (response !== undefined) limited?.over(response.status, true);
  return response;
}

function complete(request: Request, response: Response): Response {
  const limited = pending.get(request);
  if (limited === undefined) return response;
  limited.over(response.status, true);
  return withHeaders(response, limited.headers);
}
