import { fixedWindow, memoryStore, RateLimiter, redisStore } from '@sluice/core';
import { farStore } from '../../../tests/support/far-store.js';
import { type Dashboard, type DashboardOptions, dashboard } from './index.js';

const ORIGIN = 'http://127.0.0.1:3000';
const FILES = ['', 'page.js', 'page.css', 'events', 'key', 'change', 'nothing.txt'];
const SAME_PAGE = { Origin: ORIGIN, 'Sec-Fetch-Site': 'same-origin', 'Content-Type': 'application/json' };

let page: Dashboard;
const store = memoryStore();
const limiter = new RateLimiter({
  name: 'secret-name',
  policy: fixedWindow({ limit: 1, window: '1h' }),
  store,
});

function open(options: Partial<DashboardOptions> = {}): void {
  page = dashboard(store, { authorize: () => true, ...options });
}

const get = (path: string, headers: Record<string, string> = {}) =>
  page(new Request(`${ORIGIN}/limits/${path}`, { headers: { Host: '127.0.0.1:3000', ...headers } }));
const post = (path: string, body: unknown, headers: Record<string, string> = SAME_PAGE) =>
  page(
    new Request(`${ORIGIN}/limits/${path}`, {
      method: 'POST',
      headers: { Host: '127.0.0.1:3000', ...headers },
      body: JSON.stringify(body),
    }),
  );
const reset = { limiter: 'secret-name', key: 'ann', action: 'reset', confirmed: true };

afterEach(() => page.close());
afterAll(() => limiter.close());

test.each([
  ['false', () => false],
  ['a promise of false', async () => false],
  ['something that is not true', () => 'yes' as unknown as boolean],
])('if authorize returns %s, every request gets 401', async (_, authorize) => {
  open({ authorize });
  for (const file of FILES) {
    for (const response of [await get(file), await post(file, reset)]) {
      expect(response.status).toBe(401);
      expect(await response.text()).toBe('Sign in to see this page\n');
      expect(response.headers.get('Cache-Control')).toBe('no-store');
    }
  }
});

test('if authorize throws, the request gets 401 and a warning gives the reason', async () => {
  open({
    authorize: async () => {
      throw new Error('the session store is out');
    },
  });
  const warnings: string[] = [];
  const emitWarning = process.emitWarning;
  process.emitWarning = ((message: string) => warnings.push(message)) as typeof process.emitWarning;
  const response = await get('').finally(() => {
    process.emitWarning = emitWarning;
  });
  expect([response.status, await response.text()]).toEqual([401, 'Sign in to see this page\n']);
  expect(warnings).toEqual([expect.stringContaining('the session store is out')]);
});

test.each([
  ['evil.example', 421],
  ['evil.example:3000', 421],
  ['127.0.0.1.evil.example', 421],
  ['user@127.0.0.1', 421],
  ['', 421],
  ['localhost:3000', 200],
  ['LOCALHOST', 200],
  ['[::1]:3000', 200],
])('Host %p gets status %d, and a foreign host does not reach authorize', async (host, status) => {
  const authorized: string[] = [];
  open({
    authorize: ({ url }) => {
      authorized.push(url);
      return true;
    },
  });
  expect((await get('', { Host: host })).status).toBe(status);
  expect(authorized).toHaveLength(status === 200 ? 1 : 0);
});

test('hosts allows exactly the given names', async () => {
  open({ hosts: ['admin.example.com', 'other.example.com:8443'] });
  const status = async (Host: string) => (await get('', { Host })).status;
  expect(await status('admin.example.com:1')).toBe(200);
  expect(await status('other.example.com:8443')).toBe(200);
  expect(await status('other.example.com')).toBe(421);
  expect(await status('127.0.0.1:3000')).toBe(421);
});

test.each([
  ['of another site', { ...SAME_PAGE, Origin: 'http://evil.example' }],
  ['of another port', { ...SAME_PAGE, Origin: 'http://127.0.0.1:3001' }],
  ['null', { ...SAME_PAGE, Origin: 'null' }],
  ['missing', { 'Content-Type': 'application/json' }],
  ['that the browser says is another', { ...SAME_PAGE, 'Sec-Fetch-Site': 'same-site' }],
])('a write with an origin %s gets 403 and changes nothing', async (_, headers) => {
  open({ write: true });
  await limiter.consume('ann');
  for (const file of ['key', 'change']) expect((await post(file, reset, headers)).status).toBe(403);
  expect((await limiter.peek('ann')).allowed).toBe(false);
});

test('behind a proxy that changes Host, the origin must be one of the hosts', async () => {
  open({ write: true, hosts: ['internal', 'admin.example.com'] });
  const status = async (Origin: string) =>
    (await post('change', {}, { ...SAME_PAGE, Origin, Host: 'internal' })).status;
  expect(await status('https://admin.example.com')).toBe(400);
  expect(await status('https://evil.example')).toBe(403);
});

test.each([
  ['a page that only reads', false, reset, SAME_PAGE, 403],
  ['a form', true, reset, { ...SAME_PAGE, 'Content-Type': 'application/x-www-form-urlencoded' }, 415],
  ['plain text', true, reset, { ...SAME_PAGE, 'Content-Type': 'text/plain' }, 415],
  ['no confirmation', true, { ...reset, confirmed: undefined }, SAME_PAGE, 400],
  ['another confirmation', true, { ...reset, confirmed: 'true' }, SAME_PAGE, 400],
  ['an unknown action', true, { ...reset, action: 'constructor' }, SAME_PAGE, 400],
  ['no key', true, { ...reset, key: '' }, SAME_PAGE, 400],
  ['a list', true, [reset], SAME_PAGE, 400],
  ['100 kB', true, { ...reset, key: 'x'.repeat(100_000) }, SAME_PAGE, 413],
])('%s changes nothing', async (_, write, body, headers, status) => {
  open({ write });
  await limiter.consume('ann');
  expect((await post('change', body, headers)).status).toBe(status);
  expect((await limiter.peek('ann')).allowed).toBe(false);
});

test('a change needs POST, and a read needs GET', async () => {
  open({ write: true });
  const response = await get('change');
  expect([response.status, response.headers.get('Allow')]).toEqual([405, 'POST']);
  expect((await post('', reset)).status).toBe(405);
});

test('responses cannot be cached or framed by other sites, and contain nothing inline', async () => {
  open();
  for (const file of FILES) {
    const { headers, body } = await get(file);
    await body?.cancel();
    expect(headers.get('Cache-Control')).toBe('no-store');
    expect(headers.get('X-Content-Type-Options')).toBe('nosniff');
    const policy = headers.get('Content-Security-Policy')!;
    expect(policy).toMatch(/^default-src 'none';/);
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
    expect(policy).toContain("frame-ancestors 'self'");
  }
  const html = await (await get('')).text();
  expect(html).not.toMatch(/<style|<script[^>]*>[^<]| on\w+=| style=/);
});

test('the page redirects to an address with a final slash, so that its links work', async () => {
  open();
  const response = await page(new Request(`${ORIGIN}/limits?a=b`));
  expect([response.status, response.headers.get('Location')]).toEqual([308, './limits/?a=b']);
});

test.each(['limits', 'https:1249763844', 'http:1249763844', 'javascript:alert(1)', '%2f%2fevil'])(
  'the redirect for %s stays on the same site',
  async (name) => {
    open();
    const url = `${ORIGIN}/${name}?a=b`;
    const response = await page(new Request(url, { headers: { Host: '127.0.0.1:3000' } }));
    expect(response.status).toBe(308);
    expect(new URL(response.headers.get('Location')!, url).href).toBe(`${ORIGIN}/${name}/?a=b`);
  },
);

test('a change while the store is out gets 503, and the process keeps running', async () => {
  const out = redisStore('redis://127.0.0.1:1').on('degraded', () => {});
  page = dashboard(out, { authorize: () => true, write: true });
  const response = await post('change', reset).finally(() => out.close());
  const body = await response.json();
  expect([response.status, body]).toEqual([503, { error: expect.stringContaining('no connection') }]);
});

test('the 51st stream gets 503 with Retry-After, and close ends the others', async () => {
  open();
  const streams = [];
  for (let i = 0; i < 50; i += 1) streams.push(await get('events'));
  const late = await get('events');
  expect([late.status, late.headers.get('Retry-After')]).toEqual([503, '10']);
  const ended = Promise.all(streams.map((response) => response.text()));
  await page.close();
  expect(await ended).toHaveLength(50);
  expect((await get('events')).status).toBe(503);
});

test('an aborted or cancelled request frees its stream', async () => {
  open();
  for (let i = 0; i < 120; i += 1) {
    const aborted = new AbortController();
    const request = new Request(`${ORIGIN}/limits/events`, {
      signal: aborted.signal,
      headers: { Host: 'localhost' },
    });
    const response = await page(request);
    expect(response.status).toBe(200);
    if (i % 2 === 0) aborted.abort();
    else await response.body!.cancel();
  }
});

test.each([
  [{}, /authorize must be a function/],
  [{ authorize: true }, /authorize must be a function .*, not true/],
  [{ authorize: () => true, write: 'yes' }, /write must be/],
  [{ authorize: () => true, hosts: [] }, /hosts must be a list/],
  [{ authorize: () => true, hosts: ['https://admin.example.com'] }, /hosts must be .*"https:/],
  [{ authorize: () => true, hosts: 'localhost' }, /hosts must be a list/],
  [{ authorise: () => true }, /dashboard has no option 'authorise'/],
] as [object, RegExp][])('the options %p are refused', (options, message) => {
  open();
  expect(() => dashboard(store, options as never)).toThrow(message);
});

test('a store without a notice board is refused', () => {
  open();
  const { store: own } = farStore();
  expect(() => dashboard(own, { authorize: () => true })).toThrow(
    'dashboard: store must be memoryStore() or redisStore(…), not ',
  );
});
