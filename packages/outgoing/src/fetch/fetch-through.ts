import type { Cost } from '@sluice/core';
import { describe } from '@sluice/core/internal';
import type { Answered, Caller, Exchange, Progress } from '../calls/caller.js';
import { failureOf } from '../calls/failure.js';
import { type HeaderSource, headersOf, type OutgoingRequest } from '../calls/outgoing-request.js';
import { ownBody } from '../calls/own-body.js';
import { MOST_BODY } from '../parse-rate-limit.js';
import { viewOf } from '../reading/response-view.js';
import { afterRedirect, isReplayable, mayTell, onBodyEnd, reasonOf } from './body.js';
import { checkCall } from './check-call.js';
import { isRedirect, MOST_REDIRECTS, redirected, settingsOf } from './redirects.js';

/** The actual cost of a call, by its response. */
export type Settle = (
  response: Response,
  request: OutgoingRequest,
) => Cost | undefined | Promise<Cost | undefined>;

/** What `fetchThrough` needs. */
export interface FetchOptions {
  readonly name: string;
  readonly origin: string;
  readonly caller: Caller;
  /** Sends a request. */
  readonly fetch: typeof fetch;
  /** May a success be a refusal? */
  readonly readsSuccess: boolean;
  readonly settle: Settle | undefined;
  /** A failure of `settle`: the estimate stays spent. */
  readonly settleFailed: (error: unknown) => void;
}

type Init = RequestInit & { readonly method: string };

/** fetch that waits, learns and repeats. */
export function fetchThrough(options: FetchOptions): typeof fetch {
  return async (input, settings) => {
    const init = settings ?? {}; // fetch takes null, too
    const given = input instanceof Request ? input : undefined;
    const url = resolved(options, given === undefined ? (input as string | URL) : given.url);
    const method = (init.method ?? given?.method ?? 'GET').toUpperCase();
    const redirect = init.redirect ?? given?.redirect ?? 'follow';
    checkCall(url, method, init, given);
    const progress = options.caller.begin();
    let next: { readonly url: URL; readonly init: Init } = {
      url,
      init: { ...init, ...(given && settingsOf(given, init)), redirect: 'manual', method },
    };
    for (; ; progress.hops += 1) {
      const isFirst = progress.hops === 0;
      const response = await sent(options, progress, next.url, next.init, isFirst ? given : undefined);
      if (redirect === 'error' && isRedirect(response)) {
        cancel(response);
        throw new TypeError('fetch failed', { cause: new Error('unexpected redirect') });
      }
      const follow = redirect === 'follow' ? redirected(response, next.url, next.init) : undefined;
      const isLast =
        follow === undefined ||
        progress.hops === MOST_REDIRECTS ||
        !isReplayable(follow.init.body) ||
        (given?.body && follow.init.body !== null);
      if (isLast) return isFirst ? response : afterRedirect(response);
      cancel(response);
      next = follow;
    }
  };
}

/** Ends an unread body. Not awaited: a response and its copy are cancelled only when both are. */
const cancel = ({ body }: Response): void => void body?.cancel().catch(() => {});

/** Undefined: the address is none. Parses it once. Only a text may be relative: another library's Request reads `[object Request]`. */
function urlOf(address: string | URL, origin: string): URL | undefined {
  try {
    return new URL(address, typeof address === 'string' ? origin : undefined);
  } catch {
    return undefined;
  }
}

/** @throws TypeError for an input that is no address, and for an address outside of the origin */
function resolved({ name, origin }: FetchOptions, address: string | URL): URL {
  const url = urlOf(address, origin);
  if (url?.origin === origin) return url;
  if (url === undefined && typeof address !== 'string') {
    throw new TypeError(
      `upstream '${name}': fetch takes a text, a URL or a Request of this runtime, not ${describe(address)}: pass its url and settings`,
    );
  }
  const where = url === undefined ? describe(String(address)) : url.origin;
  throw new TypeError(`upstream '${name}' calls ${origin} only, not ${where}: use fetch for another service`);
}

async function sent(
  options: FetchOptions,
  progress: Progress,
  url: URL,
  init: Init,
  given: Request | undefined,
): Promise<Response> {
  const { caller, readsSuccess } = options;
  const headers = headersOf(init.headers as HeaderSource | undefined);
  const request: OutgoingRequest = { method: init.method, url, headers };
  const body = init.body === undefined ? given?.body : init.body;
  const own = ownBody(body);
  const settings = own.body === body ? init : { ...init, body: own.body as NonNullable<RequestInit['body']> };
  const signal = init.signal ?? undefined;
  let read: Response | undefined;
  const exchange: Exchange<Response> = {
    send: () => options.fetch(given ?? url, settings),
    failureOf: (error) => (own.hasFailed() ? 'mistake' : failureOf(error)),
    view: (response, receivedAt) =>
      mayTell(response.status, readsSuccess)
        ? reasonOf(response, MOST_BODY, signal, caller.limitReading).then((text) => {
            if (text !== undefined) read = response;
            return viewOf(response, receivedAt, text ?? '');
          })
        : viewOf(response, receivedAt),
    discard: (response) => response.body?.cancel(),
  };
  const answered = await caller.call(request, isReplayable(body), signal, exchange, progress);
  return ended(options, request, signal, answered, answered.response === read);
}

/**
 * Settles in the background, when the response has been read; releases held permits at its end.
 * @param isRead whether all of its body has arrived, so that nothing depends on its caller
 */
async function ended(
  { settle, settleFailed }: FetchOptions,
  request: OutgoingRequest,
  signal: AbortSignal | undefined,
  answered: Answered<Response>,
  isRead: boolean,
): Promise<Response> {
  const { response, done, settle: report } = answered;
  if (settle !== undefined && report !== undefined) {
    const settled = async () => {
      const copy = response.clone();
      let cost: Cost | undefined;
      try {
        cost = await settle(copy, request);
      } finally {
        // Otherwise the whole body is kept for it.
        if (copy.body?.locked === false) cancel(copy);
      }
      if (cost !== undefined) await report(cost);
    };
    void settled().catch(settleFailed);
  }
  if (done === undefined) return response;
  if (response.body !== null && !isRead) return onBodyEnd(response, done, signal);
  await done();
  return response;
}
