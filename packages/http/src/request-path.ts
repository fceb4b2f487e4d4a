import { KeyResolutionError } from '@sluice/core';

/** Matches paths that need no normalization: most of them. */
const NORMAL = /^(?:\/(?!\.)[^/%?#]+)+$/;

/**
 * Normalizes the path of a request target: all spellings that reach the same route get one form. Drops the origin, query, fragment and
 * trailing slash. Decodes escapes except `%2F` and `%25`. Removes duplicate slashes and dot segments. Otherwise each spelling would
 * have its own count, and a client could evade a limit by path.
 * @param caseSensitive whether the framework's router distinguishes `/users` from `/USERS`
 * @throws KeyResolutionError (400) if the target is neither a path nor `http://host/path`: routers read others differently
 */
export function pathOf(url: string, caseSensitive = true): string {
  let path = url;
  if (!NORMAL.test(url)) {
    const raw = rawPathOf(url);
    path = NORMAL.test(raw) ? raw : `/${resolved(segmentsOf(raw)).join('/')}`;
  }
  return caseSensitive ? path : path.toLowerCase();
}

/**
 * Like `pathOf`, but with dot segments kept; undefined if there are none. Node's routers keep them: `/files/../a` reaches a handler of
 * `/files/*`.
 */
export function writtenPathOf(url: string, caseSensitive = true): string | undefined {
  if (!/\/(?:\.|%2e)/i.test(url)) return undefined;
  const segments = segmentsOf(rawPathOf(url));
  if (!segments.includes('.') && !segments.includes('..')) return undefined;
  const path = `/${segments.join('/')}`;
  return caseSensitive ? path : path.toLowerCase();
}

function rawPathOf(url: string): string {
  const path = withoutOrigin(url);
  // Some routers skip the first character whatever it is: `*login` reaches `/login`.
  if (path !== '' && !path.startsWith('/')) {
    throw new KeyResolutionError(
      "The request target must begin with '/' or be a URL such as http://host/path",
    );
  }
  return path.replace(/[?#].*$/s, '');
}

/** Drops an origin that every router drops. They disagree on other schemes, on capitals, and on `?`, `#` or the end before a slash. */
const withoutOrigin = (url: string): string => url.replace(/^https?:\/\/[^/?#]+(?=\/)/, '');

const segmentsOf = (raw: string): string[] =>
  raw
    .split('/')
    .map(decoded)
    .filter((segment) => segment !== '');

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

/** The query of a web-standard URL. A name that occurs several times has an array, as in frameworks that parse it. */
export const queryOf = (parameters: URLSearchParams): Record<string, string | string[]> =>
  Object.fromEntries(
    [...new Set(parameters.keys())].map((name) => {
      const values = parameters.getAll(name);
      return [name, values.length > 1 ? values : values[0]!];
    }),
  );

/**
 * The pattern of a route, with the prefix at which its router is mounted.
 * @param pattern as the framework has it: a string, a regular expression or an array
 */
export const routeOf = (prefix: string, pattern: unknown): string | undefined =>
  pattern === undefined ? undefined : `${prefix === '/' ? '' : prefix}${String(pattern)}`;

/** How a server's router reads paths, as far as limits need it. Both options have two places. */
export interface RouterSettings {
  readonly caseSensitive?: boolean;
  /** Does a path end at `;`? */
  readonly useSemicolonDelimiter?: boolean;
  readonly routerOptions?: Omit<RouterSettings, 'routerOptions'>;
}

/**
 * A path for a server that publishes the settings of its router.
 * @param read `pathOf` or `writtenPathOf`
 * @param omitted the case sensitivity of a router whose `routerOptions` do not say it
 */
export function routerPathOf<Path>(
  read: (url: string, caseSensitive: boolean) => Path,
  url: string,
  { caseSensitive, useSemicolonDelimiter, routerOptions: router }: RouterSettings = {},
  omitted = true,
): Path {
  const ends = useSemicolonDelimiter === true || router?.useSemicolonDelimiter === true;
  const path = withoutOrigin(url);
  return read(
    ends ? path.replace(/;.*$/s, '') : path,
    caseSensitive !== false && (router === undefined || (router.caseSensitive ?? omitted)),
  );
}
