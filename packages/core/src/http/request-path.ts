/** Matches paths that need no normalization: most of them. */
const NORMAL = /^(?:\/(?!\.)[^/%?#]+)+$/;

/**
 * Normalizes the path of a raw URL: all spellings that reach the same route get one form. Drops the origin, query, fragment and
 * trailing slash. Decodes escapes except `%2F` and `%25`. Removes duplicate slashes and dot segments. Otherwise each spelling would
 * have its own count, and a client could evade a limit by path.
 * @param caseSensitive whether the framework's router distinguishes `/users` from `/USERS`
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

/** Decodes a segment. `%2F` and `%25` stay escaped, because decoding them would change the path. */
function decoded(segment: string): string {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment).replace(/[%/]/g, encodeURIComponent);
  } catch {
    return segment; // routers reject it
  }
}

/**
 * The pattern of a route, with the prefix at which its router is mounted.
 * @param pattern as the framework has it: a string, a regular expression or an array
 */
export const routeOf = (prefix: string, pattern: unknown): string | undefined =>
  pattern === undefined ? undefined : `${prefix === '/' ? '' : prefix}${String(pattern)}`;

/**
 * @internal `pathOf` for a Fastify server. Its options decide whether the router ignores case and whether `;` ends a path; each option
 * has two places.
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
