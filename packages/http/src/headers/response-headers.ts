import { isRateLimitExceededError, isStoreUnavailableError } from '@sluice/core';
import { draft11Writer, type ResponseHeaders } from './decision-headers.js';
import { headersBy } from './single-policy.js';

/** A header as a list: some frameworks keep one that was set several times as an array. */
const linesOf = (value: unknown): string[] =>
  (Array.isArray(value) ? value : [value]).filter(
    (line): line is string => typeof line === 'string' && line !== '',
  );

/** A header as one text; empty without it. */
export const textOf = (value: unknown): string => linesOf(value).join(', ');

export const extended = (list: unknown, items: string): string => [...linesOf(list), items].join(', ');

/** Joins two lists, unless the second begins with the first. */
function joined(first: unknown, second: unknown): string {
  const [before, after] = [textOf(first), textOf(second)];
  if (before === '' || after === before || after.startsWith(`${before}, `)) return after;
  return after === '' ? before : `${before}, ${after}`;
}

/** The headers of a response to an error; none for errors of other code. A limiter that knows no HTTP gives an error `Retry-After` only. */
export function headersOfError(error: unknown): Readonly<Record<string, string>> {
  if (isRateLimitExceededError(error)) {
    return error.hasOwnHeaders
      ? error.headers
      : { ...headersBy(draft11Writer(), error.decision), ...error.headers };
  }
  return isStoreUnavailableError(error) ? error.headers : {};
}

/** Adds `RateLimit` and `RateLimit-Policy` to a denial of a limiter, for frameworks that answer an error with its own headers. */
export function withResponseHeaders<E>(error: E): E {
  if (isRateLimitExceededError(error)) Object.assign(error.headers, headersOfError(error));
  return error;
}

/**
 * Sets the headers of a thrown error. An error of a limit on requests has those of the whole response already. An error of a decorated
 * method or of `acquire` has its own, which are added to the lists.
 */
export function writeErrorHeaders(error: unknown, headers: ResponseHeaders): void {
  for (const [name, value] of Object.entries(headersOfError(error)))
    headers.set(name, name.startsWith('RateLimit') ? joined(headers.get(name), value) : value);
}

type Headers = Readonly<Record<string, unknown>>;

/** The headers of limits in all styles, and of their denials, in lower case. */
const OF_LIMITS = /^(?:(?:x-)?ratelimit|retry-after$)/;
/** The headers to which each limit adds its own items. */
const LISTS = ['RateLimit-Policy', 'RateLimit'];
/** From headers made here to what the error had before: several limits may catch and throw one error. */
const originals = new WeakMap<object, Headers>();

/**
 * Gives an error the headers that limits have set so far, because some frameworks answer an error with its own headers and drop or
 * replace those of the response.
 * @param written the headers of the response, by their names in lower case
 */
export function keepHeaders(error: unknown, written: Headers): void {
  if (typeof error !== 'object' || error === null) return;
  const { headers: carried } = error as { headers?: unknown };
  const own: Headers =
    typeof carried === 'object' && carried !== null
      ? (originals.get(carried) ?? { ...carried, ...headersOfError(error) })
      : {};
  const headers: Record<string, unknown> = Object.fromEntries(
    Object.entries(written).filter(([name]) => OF_LIMITS.test(name)),
  );
  Object.assign(headers, own);
  for (const name of LISTS) {
    const lower = name.toLowerCase();
    delete headers[lower];
    const list = joined(written[lower], own[name] ?? own[lower]);
    if (list !== '') headers[name] = list;
  }
  originals.set(headers, own);
  // Not enumerable, so logs do not show it; without effect on a frozen error.
  Reflect.defineProperty(error, 'headers', { value: headers, configurable: true, writable: true });
}
