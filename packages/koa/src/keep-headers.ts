import type { AnyContext } from './options.js';

type Headers = Readonly<Record<string, unknown>>;

const NAMES = ['RateLimit-Policy', 'RateLimit'];
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
  const headers: Record<string, unknown> = { ...own };
  for (const name of NAMES) {
    const lists = [context.response.get(name), own[name]]
      .flat()
      .filter((list) => list !== undefined && list !== '');
    if (lists.length > 0) headers[name] = lists.join(', ');
  }
  originals.set(headers, own);
  // Quietly: not seen in logs, and of no effect on a frozen error.
  Reflect.defineProperty(error, 'headers', { value: headers, configurable: true, writable: true });
}
