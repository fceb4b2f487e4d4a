/** As many as fetch follows. */
export const MOST_REDIRECTS = 20;

const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];
/** Headers of a body that is not sent again. */
const OF_BODY = [
  'content-encoding',
  'content-language',
  'content-location',
  'content-type',
  'content-length',
];

/** Settings of a request that do not belong to its address, method or body. */
const KEPT = [
  'headers',
  'signal',
  'credentials',
  'integrity',
  'keepalive',
  'referrer',
  'referrerPolicy',
] as const;

/** The settings of a given request that `init` does not replace: its redirects are sent to an address with these. */
export function settingsOf(given: Request, init: RequestInit): RequestInit {
  // Some runtimes do not have all of them.
  const kept = KEPT.filter((name) => init[name] === undefined && given[name] !== undefined);
  return Object.fromEntries(kept.map((name) => [name, given[name]]));
}

export const isRedirect = ({ status }: Response): boolean => REDIRECTS.includes(status);

/** The next request of a redirect within the same origin; undefined if there is none to follow. */
export function redirected(
  response: Response,
  url: URL,
  init: RequestInit & { readonly method: string },
): { readonly url: URL; readonly init: RequestInit & { readonly method: string } } | undefined {
  const { status, headers } = response;
  const location = headers.get('location');
  if (!isRedirect(response) || location === null || !URL.canParse(location, url.href)) return undefined;
  const next = new URL(location, url);
  if (next.origin !== url.origin) return undefined;
  if (next.hash === '') next.hash = url.hash;
  const { method } = init;
  const becomesGet =
    (status === 303 && method !== 'GET' && method !== 'HEAD') || (status < 303 && method === 'POST');
  if (!becomesGet) return { url: next, init };
  const kept = new Headers(init.headers);
  for (const name of OF_BODY) kept.delete(name);
  return { url: next, init: { ...init, method: 'GET', body: null, headers: kept } };
}
