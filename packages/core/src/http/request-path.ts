/** Matches paths that need no normalization: most of them. */
const NORMAL = /^(?:\/(?!\.)[^/%?#]+)+$/;

/**
 * Normalizes the path of a raw URL: all spellings that reach the same route get one form. Drops the origin, query, fragment and
 * trailing slash. Decodes escapes except `%2F` and `%25`. Removes duplicate slashes and dot segments. Otherwise each spelling would
 * have its own count, and a client could evade a limit by path.
 * @param caseSensitive whether the framework's router distinguishes `/users` from `/USERS`
 */
export function pathOf(url: string, caseSensitive = true): string {
  const raw = rawPathOf(url);
  const path = NORMAL.test(raw) ? raw : `/${resolved(segmentsOf(raw)).join('/')}`;
  return caseSensitive ? path : path.toLowerCase();
}

/**
 * Like `pathOf`, but with dot segments kept; undefined if there are none. Node's routers keep them: `/files/../a` reaches a handler of
 * `/files/*`.
 */
export function writtenPathOf(url: string, caseSensitive = true): string | undefined {
  if (!MAY_HAVE_DOTS.test(url)) return undefined;
  const segments = segmentsOf(rawPathOf(url));
  if (!segments.some(isDot)) return undefined;
  const path = `/${segments.join('/')}`;
  return caseSensitive ? path : path.toLowerCase();
}

const MAY_HAVE_DOTS = /\/(?:\.|%2e)/i;

const rawPathOf = (url: string): string => withoutOrigin(url).replace(/[?#].*$/s, '');

const withoutOrigin = (url: string): string => url.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i, '');

const segmentsOf = (raw: string): string[] =>
  raw
    .split('/')
    .map(decoded)
    .filter((segment) => segment !== '');

const isDot = (segment: string): boolean => segment === '.' || segment === '..';

function resolved(segments: readonly string[]): string[] {
  const kept: string[] = [];
  for (const segment of segments) {
    if (segment === '..') kept.pop();
    else if (segment !== '.') kept.push(segment);
  }
  return kept;
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
 * @internal A path for a Fastify server. Its options decide whether the router ignores case and whether `;` ends a path; each option has
 * two places.
 * @param read `pathOf` or `writtenPathOf`
 */
export function fastifyPathOf<Path>(
  read: (url: string, caseSensitive: boolean) => Path,
  url: string,
  initialConfig: object | undefined,
): Path {
  const { caseSensitive, useSemicolonDelimiter, routerOptions } = Object(initialConfig);
  const ends = useSemicolonDelimiter === true || routerOptions?.useSemicolonDelimiter === true;
  const path = withoutOrigin(url);
  return read(
    ends ? path.replace(/;.*$/s, '') : path,
    caseSensitive !== false && routerOptions?.caseSensitive !== false,
  );
}
