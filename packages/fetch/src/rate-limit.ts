import {
  answerError,
  type OwnLimiter,
  type Reply,
  RequestLimit,
  type RequestLimitOptions,
  type ResponseView,
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

/** Collects the headers of a request's limits until there is a response. */
class PendingResponse implements ResponseView {
  readonly headers = new Headers();
  readonly sent = false;
  status = 0;
  readonly #listeners = new Set<(complete: boolean) => void>();
  #complete: boolean | undefined;

  constructor({ signal }: Request) {
    if (signal.aborted) this.over(0, false);
    else signal.addEventListener('abort', () => this.over(0, false), { once: true });
  }

  get(name: string): string | undefined {
    return this.headers.get(name) ?? undefined;
  }

  set(name: string, value: string): void {
    this.headers.set(name, value);
  }

  append(name: string, items: string): void {
    this.headers.append(name, items);
  }

  whenOver(listener: (complete: boolean) => void): void {
    if (this.#complete === undefined) this.#listeners.add(listener);
    else listener(this.#complete);
  }

  endBegun(): void {} // a fetch response cannot have started yet

  /** Only the first call counts: a response, or the client's disconnection. */
  over(status: number, complete: boolean): void {
    if (this.#complete !== undefined) return;
    this.status = status;
    this.#complete = complete;
    for (const listener of this.#listeners) listener(complete);
  }
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
    const response = pending.get(request) ?? new PendingResponse(request);
    pending.set(request, response);
    const verdict = await limit.handle(viewOf(request, info), response, request, info);
    if (verdict.outcome === 'passed') return undefined;
    if (verdict.outcome === 'aborted') return new Response(null, { status: 408 }); // the client disconnected
    return complete(request, responseOf(await verdict.reply()));
  };
  return withLimiter(Object.assign(decide, { complete }), limit);
}

/**
 * The response to one of Sluice's errors: a thrown denial (429), a key that the client did not send (400), a store that is out (503).
 * `undefined` for other errors.
 */
export function errorResponse(error: unknown, request: Request): Response | undefined {
  const headers = new Headers();
  const written = {
    get: (name: string) => headers.get(name) ?? undefined,
    set: (name: string, value: string) => headers.set(name, value),
  };
  const reply = answerError(error, request.headers.get('accept') ?? undefined, written);
  return reply && responseOf(reply, headers);
}

function responseOf({ status, type, body }: Reply, headers = new Headers()): Response {
  headers.set('Content-Type', type);
  return new Response(body, { status, headers });
}

function complete(request: Request, response: Response): Response {
  const limited = pending.get(request);
  if (limited === undefined) return response;
  limited.over(response.status, true);
  // An upgrade (101) and Response.error() (0) cannot be copied.
  if (response.status < 200) return response;
  const headers = new Headers(response.headers);
  for (const [name, value] of limited.headers) headers.set(name, value);
  const { status, statusText } = response;
  return new Response(response.body, { status, statusText, headers });
}
