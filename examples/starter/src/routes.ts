/** A route of the demo, as shown on the page and in the terminal. */
export interface DemoRoute {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** The query parameter that is the key of the limit, with an example value. */
  readonly key?: { readonly name: string; readonly value: string };
  readonly limit: string;
  /** The part of the code that limits the route. */
  readonly by: string;
  /** Number of requests in a row that ends with a denial. */
  readonly burst: number;
}

export const routes: readonly DemoRoute[] = [
  {
    method: 'GET',
    path: '/limiter/count',
    key: { name: 'key', value: 'test' },
    limit: '2 per key in 10 s',
    by: '@CountLimit',
    burst: 3,
  },
  { method: 'GET', path: '/limiter/rate', limit: '1 in 5 s', by: '@RateLimit', burst: 2 },
  { method: 'GET', path: '/limiter/rate2', limit: '1 in 30 s', by: 'limiter.acquire()', burst: 2 },
  {
    method: 'POST',
    path: '/sms/count',
    key: { name: 'phone', value: '13800000000' },
    limit: '1 per phone number in 60 s',
    by: '@CountLimit',
    burst: 2,
  },
  {
    method: 'POST',
    path: '/sms/rate',
    key: { name: 'phone', value: '13800000000' },
    limit: '1 per phone number in 60 s',
    by: '@RateLimit',
    burst: 2,
  },
  { method: 'GET', path: '/hello', limit: '5 per address in 10 s', by: 'rateLimit() middleware', burst: 6 },
];

/** The path with its query. */
export const target = ({ path, key }: DemoRoute): string =>
  key === undefined ? path : `${path}?${key.name}=${key.value}`;

/** A shell line that ends with a denial. */
export function curlLine(origin: string, route: DemoRoute): string {
  const times = Array.from({ length: route.burst }, (_, i) => i + 1).join(' ');
  const post = route.method === 'POST' ? 'X POST' : '';
  const show = "grep -iE '^(HTTP|retry-after)'";
  return `for i in ${times}; do curl -si${post} '${origin}${target(route)}' | ${show}; done`;
}
