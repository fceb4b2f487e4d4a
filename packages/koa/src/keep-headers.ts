import type { AnyContext } from './options.js';

type Headers = Readonly<Record<string, unknown>>;

/** The names of all styles, as Node keeps them. */
const TOLD = /^(?:x-)?ratelimit/;
/** Those to which each limit adds its own. */
const LISTS = ['RateLimit-Policy', 'RateLimit'];
/** From headers that were made here to what the error had before: it may be caught by several limits, and thrown again. */
const originals = new WeakMap<object, Headers>();

/**
 * Koa answers an error with the headers that the error carries, and drops those of the response. This gives the error what
 * limits have told so far; a denial adds its own to the lists.
 */
export function keepHeaders(error: unknown, context: AnyContext): void {
  if (typeof error !== 'object' || error === null || context.headerSent) return;
  const { headers: carried } = error as { headers?: unknown };
  const own: Headers =
    typeof carried === 'object' && carried !== null ? (originals.get(carried) ?? { ...carried }) : {};
  const told = Object.entries(context.response.headers).filter(([name]) => TOLD.test(name));
  const headers: Record<string, unknown> = { ...Object.fromEntries(told), ...own };
  for (const name of LISTS) {
    const before = context.response.get(name);
    // What a limit of ours threw has the lists of the whole response already.
    const lists = String(own[name] ?? '').startsWith(before) ? [own[name]] : [before, own[name]];
    delete headers[name.toLowerCase()];
    headers[name] = lists
      .flat()
      .filter((list) => list !== undefined && list !== '')
      .join(', ');
    if (headers[name] === '') delete headers[name];
  }
  originals.set(headers, own);
  // Quietly: not seen in logs, and of no effect on a frozen error.
  Reflect.defineProperty(error, 'headers', { value: headers, configurable: true, writable: true });
}
