/** Nothing to normalise: most paths. */
const NORMAL = /^(?:\/(?!\.)[^/%?#]+)+$/;

/**
 * The path of a raw URL in one form for all that reach the same route: without `http://anything`, query, fragment and trailing slash;
 * escapes decoded except `%2F` and `%25`; duplicate slashes and dot segments removed. A limit by the path would be evaded otherwise,
 * with a key of its own for each way to write one path.
 * @param caseSensitive does the framework's router tell `/users` from `/USERS`?
 */
export function pathOf(url: string, caseSensitive = true): string {
  const raw = withoutOrigin(url).replace(/[?#].*$/s, '');
  const path = NORMAL.test(raw) ? raw : `/${segmentsOf(raw).join('/')}`;
  return caseSensitive ? path : path.toLowerCase();
}

const withoutOrigin = (url: string): string => url.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i, '');

function segmentsOf(raw: string): string[] {
  const segments: string[] = [];
  for (const written of raw.split('/')) {
    const segment = decoded(written);
    if (segment === '..') segments.pop();
    else if (segment !== '' && segment !== '.') segments.push(segment);
  }
  return segments;
}

/** Each character as it is; the two that would be taken for something else stay escaped. */
function decoded(segment: string): string {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment).replace(/[%/]/g, encodeURIComponent);
  } catch {
    return segment; // routers refuse it
  }
}

/**
 * The pattern of a route under the prefix at which its router is mounted.
 * @param pattern what a framework has for it: text, a regular expression, or several of them
 */
export const routeOf = (prefix: string, pattern: unknown): string | undefined =>
  pattern === undefined ? undefined : `${prefix === '/' ? '' : prefix}${String(pattern)}`;

/**
 * @internal The same of a Fastify server, by its options, each of which has two places: does its router tell `/users` from `/USERS`, and does
 * `;` end a path?
 */
export function fastifyPathOf(url: string, initialConfig: object | undefined): string {
  const { caseSensitive, useSemicolonDelimiter, routerOptions } = Object(initialConfig);
  const ends = useSemicolonDelimiter === true || routerOptions?.useSemicolonDelimiter === true;
  const path = withoutOrigin(url);
  return pathOf(
    ends ? path.replace(/;.*$/s, '') : path,
    caseSensitive !== false && routerOptions?.caseSensitive !== false,
  );
}
