import type { RequestView } from './views.js';

/** Browsers keep fewer for one site. */
const MOST_COOKIES = 300;

type Cookies = Readonly<Record<string, string>>;

/** Several rules read the cookies of one request. */
let last: { readonly header: string; readonly cookies: Cookies } | undefined;

/** The cookies of a request: those of a cookie parser, otherwise of the header `Cookie`. */
export function cookiesOf({ cookies, headers }: RequestView): unknown {
  if (typeof cookies === 'object' && cookies !== null) return cookies;
  const { cookie } = Object(headers);
  const header = Array.isArray(cookie) ? cookie.join(';') : cookie;
  if (typeof header !== 'string') return undefined;
  if (last?.header !== header) last = { header, cookies: parseCookies(header) };
  return last.cookies;
}

/**
 * Reads a `Cookie` header as the package `cookie` does: the first of a name wins, quotes around a value go, and escapes are decoded if they are
 * valid. Reads at most 300 cookies, in time linear in the header.
 * @returns an object without a prototype, so a cookie named `__proto__` is a cookie
 */
export function parseCookies(header: string): Cookies {
  const cookies: Record<string, string> = Object.create(null);
  let from = 0;
  for (let read = 0; read < MOST_COOKIES && from < header.length; read += 1) {
    const semicolon = header.indexOf(';', from);
    const end = semicolon < 0 ? header.length : semicolon;
    const pair = header.slice(from, end);
    const equals = pair.indexOf('=');
    from = end + 1;
    if (equals < 0) continue;
    const name = trimmed(pair, 0, equals);
    if (!(name in cookies)) cookies[name] = decoded(unquoted(trimmed(pair, equals + 1, pair.length)));
  }
  return cookies;
}

/** Without blanks around it. A regular expression would take quadratic time. */
function trimmed(text: string, from: number, to: number): string {
  let [start, end] = [from, to];
  while (start < end && isBlank(text.charCodeAt(start))) start += 1;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

const isBlank = (code: number): boolean => code === 0x20 || code === 0x09; // space and tab

const unquoted = (value: string): string =>
  value.startsWith('"') && value.endsWith('"') ? value.slice(1, -1) : value;

function decoded(value: string): string {
  if (!value.includes('%')) return value;
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
