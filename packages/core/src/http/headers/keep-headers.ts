import { linesOf } from './lines.js';

type Headers = Readonly<Record<string, unknown>>;

/** The names of all styles, as Node keeps them. */
const TOLD = /^(?:x-)?ratelimit/;
/** Those to which each limit adds its own. */
const LISTS = ['RateLimit-Policy', 'RateLimit'];
/** From headers that were made here to what the error had before: it may be caught by several limits, and thrown again. */
const originals = new WeakMap<object, Headers>();

/**
 * Gives an error the headers that limits have set so far, for frameworks that answer an error with the headers that it carries and drop
 * or replace those of the response. A denial adds its own to the lists; one that a limit on requests threw has them all already.
 * @param told the headers of the response, by their names in lower case
 */
export function keepHeaders(error: unknown, told: Headers): void {
  if (typeof error !== 'object' || error === null) return;
  const { headers: carried } = error as { headers?: unknown };
  const own: Headers =
    typeof carried === 'object' && carried !== null ? (originals.get(carried) ?? { ...carried }) : {};
  const headers: Record<string, unknown> = Object.fromEntries(
    Object.entries(told).filter(([name]) => TOLD.test(name)),
  );
  Object.assign(headers, own);
  for (const name of LISTS) {
    const lower = name.toLowerCase();
    delete headers[lower];
    const list = joined(told[lower], own[name] ?? own[lower]);
    if (list !== '') headers[name] = list;
  }
  originals.set(headers, own);
  // Quietly: not seen in logs, and of no effect on a frozen error.
  Reflect.defineProperty(error, 'headers', { value: headers, configurable: true, writable: true });
}

/** Two lists as one, unless the second begins with the first. */
export function joined(first: unknown, second: unknown): string {
  const [before, after] = [linesOf(first).join(', '), linesOf(second).join(', ')];
  if (before === '' || after === before || after.startsWith(`${before}, `)) return after;
  return after === '' ? before : `${before}, ${after}`;
}
