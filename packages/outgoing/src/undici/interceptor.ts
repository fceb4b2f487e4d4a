import type { Caller, Exchange } from '../calls/caller.js';
import { failureOf } from '../calls/failure.js';
import { type HeaderSource, headersOf } from '../calls/outgoing-request.js';
import { ownBody } from '../calls/own-body.js';
import { viewOf } from '../reading/response-view.js';
import { Attempt, type Handler, NO_CONTROLLER } from './attempt.js';

/** The options of a dispatch, as far as they are used. */
interface DispatchOptions {
  readonly origin?: string | URL | null;
  readonly path: string;
  readonly method: string;
  readonly headers?: unknown;
  readonly body?: unknown;
  readonly signal?: unknown;
}

type Dispatch = (options: DispatchOptions, handler: Handler) => boolean;

/**
 * An interceptor for `compose` of undici 7 or later. Requests to another origin pass untouched.
 * @param readsSuccess whether a success may be a refusal
 */
export function interceptorOf(caller: Caller, origin: string, readsSuccess: boolean): <D>(dispatch: D) => D {
  const intercept = (dispatch: Dispatch): Dispatch => {
    return (options, handler) => {
      const url = urlOf(options, origin);
      if (url === undefined) return dispatch(options, handler);
      const own = ownBody(options.body);
      const settings = own.body === options.body ? options : { ...options, body: own.body };
      let isOfClient = false;
      const sendOnce = () =>
        new Promise<Attempt>((received, reject) => {
          const failed = (error: unknown) => {
            isOfClient = attempt.isAborted || own.hasFailed(); // after a lost connection undici lets the body fail next
            reject(error);
          };
          const attempt = new Attempt(handler, received, failed, caller.limitReading, readsSuccess);
          dispatch(settings, attempt);
        });
      const failure = (error: unknown) => (isOfClient ? 'mistake' : failureOf(error));
      void send(caller, url, options, handler, sendOnce, failure);
      return true;
    };
  };
  return intercept as unknown as <D>(dispatch: D) => D;
}

function urlOf({ origin: given, path }: DispatchOptions, origin: string): URL | undefined {
  const base = String(given ?? origin);
  // undici sends any path to its origin. As an address, `//a/b` is the host `a`, but `.//a/b` is a path.
  const address = String(path).startsWith('/') ? `.${path}` : path;
  if (!URL.canParse(address, base)) return undefined;
  const url = new URL(address, base);
  return url.origin === origin ? url : undefined;
}

/** Never rejects: the handler gets the error. */
async function send(
  caller: Caller,
  url: URL,
  options: DispatchOptions,
  handler: Handler,
  sendOnce: () => Promise<Attempt>,
  failure: Exchange<Attempt>['failureOf'],
): Promise<void> {
  const { body, signal } = options;
  const method = String(options.method).toUpperCase(); // undici refuses one that is no text
  const request = { method, url, headers: headersOf(pairsOf(options.headers)) };
  const exchange: Exchange<Attempt> = {
    send: sendOnce,
    failureOf: failure,
    view: (attempt, receivedAt) => viewOf(attempt, receivedAt, attempt.text),
    discard: (attempt) => attempt.drop(),
  };
  try {
    const abort = signal instanceof AbortSignal ? signal : undefined;
    const { response, done } = await caller.call(request, isReplayable(body), abort, exchange);
    response.pass(() => {
      // A store that refuses now shows at the next call: the lease ends by itself.
      if (done !== undefined) void done().catch(() => {});
    });
  } catch (error) {
    handler.onResponseError?.(NO_CONTROLLER, error);
  }
}

const isReplayable = (body: unknown): boolean =>
  body === null || body === undefined || typeof body === 'string' || ArrayBuffer.isView(body);

/** undici also takes names and values in turn. */
function pairsOf(headers: unknown): HeaderSource | undefined {
  if (headers === null || headers === undefined) return undefined;
  if (!Array.isArray(headers)) return headers as Record<string, unknown>;
  if (Array.isArray(headers[0])) return headers as string[][];
  return Array.from({ length: headers.length / 2 }, (_, i) => [
    String(headers[2 * i]),
    String(headers[2 * i + 1]),
  ]);
}
