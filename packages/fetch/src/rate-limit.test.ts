import { concurrency, fixedWindow, ManualClock, memoryStore, slidingLog } from '@sluice/core';
import { Hono } from 'hono';
import { errorResponse, type RateLimitOptions, rateLimit } from './index.js';

const policy = fixedWindow({ limit: 1, window: '1m' });

/** A Hono app behind limits; the address of the client is in a header. */
function served(...all: RateLimitOptions[]) {
  const app = new Hono();
  for (const limit of all.map(rateLimit)) {
    app.use(async (context, next) => {
      const { raw } = context.req;
      const denied = await limit(raw, { ip: raw.headers.get('x-address') ?? '192.0.2.1', user: 'ann' });
      if (denied !== undefined) return denied;
      await next();
      context.res = limit.complete(raw, context.res);
      return undefined;
    });
  }
  app.get('/', (context) => context.text('ok', 200, { 'X-Own': 'yes' }));
  app.get('/fails', (context) => context.text('no', 500));
  return async (path = '/', headers: Record<string, string> = {}) => app.request(path, { headers });
}

test('lets a request pass with headers, then responds with a problem', async () => {
  const store = memoryStore({ clock: new ManualClock() });
  const get = served({ name: 'api', policy, store });
  const passed = await get();
  expect([passed.status, await passed.text()]).toEqual([200, 'ok']);
  expect(passed.headers.get('X-Own')).toBe('yes');
  expect(passed.headers.get('RateLimit')).toBe('"api";r=0;t=60');
  const denied = await get();
  expect(denied.status).toBe(429);
  expect(denied.headers.get('Retry-After')).toBe('60');
  expect(denied.headers.get('Content-Type')).toBe('application/problem+json');
  expect(await denied.json()).toMatchObject({ 'violated-policies': ['api'] });
  expect((await get('/', { 'x-address': '192.0.2.2' })).status).toBe(200);
});

test('several limits merge their headers, also on a denial', async () => {
  const get = served(
    { name: 'log', policy: slidingLog({ limit: 2, window: '1m' }) },
    { name: 'one', policy },
  );
  expect((await get()).headers.get('RateLimit')).toBe('"log";r=1;t=60, "one";r=0;t=60');
  const denied = await get();
  expect(denied.status).toBe(429);
  expect(denied.headers.get('RateLimit-Policy')).toBe('"log";q=2;w=60, "one";q=1;w=60');
});

test.each([
  ['?a=1', 200],
  ['', 400],
  ['?a=1&a=2', 400],
])('for the query %j, the status is %d', async (query, status) => {
  const limit = rateLimit({ policy, key: '#{query.a}:#{headers.host}' });
  const answer = limit(new Request(`http://127.0.0.1/${query}`, { headers: { host: 'x' } }));
  if (status === 200) expect(await answer).toBeUndefined();
  else await expect(answer).rejects.toMatchObject({ status });
});

test('complete releases held permits, and refunds a request that does not count', async () => {
  const held = served({ policy: concurrency({ limit: 1, lease: '1h' }) });
  for (let i = 0; i < 3; i += 1) expect((await held()).status).toBe(200);
  const failures = served({ policy, skipFailedRequests: true });
  expect((await failures('/fails')).status).toBe(500);
  expect((await failures()).status).toBe(200);
  expect((await failures()).status).toBe(429);
});

test('a client that disconnects while it waits does not count', async () => {
  const limit = rateLimit({ policy, timeout: '1h', limitType: 'METHOD' });
  await limit(new Request('http://127.0.0.1/'));
  const leaving = new AbortController();
  const waiting = limit(new Request('http://127.0.0.1/', { signal: leaving.signal }));
  leaving.abort();
  expect((await waiting)?.status).toBe(408);
  await limit.limiter.reset('all');
  expect(await limit(new Request('http://127.0.0.1/'))).toBeUndefined();
  await limit.close();
});

test.each<[object, number]>([
  [{ skipSuccessfulRequests: true }, 0],
  [{ skipSuccessfulRequests: true, requestWasSuccessful: () => true }, 0],
  [{ skipFailedRequests: true }, 1],
  [{ policy: concurrency({ limit: 1, lease: '1h' }) }, 1],
])(
  'a client that disconnects during its decision, with %j, leaves %d permits',
  async (options, remaining) => {
    const leaving = new AbortController();
    const limit = rateLimit({
      policy,
      limitType: 'METHOD',
      skip: async () => leaving.abort() as never,
      ...options,
    });
    const request = new Request('http://127.0.0.1/', { signal: leaving.signal });
    expect(await limit(request)).toBeUndefined();
    limit.complete(request, new Response('ok'));
    expect(await limit.limiter.peek('all')).toMatchObject({ remaining });
  },
);

test('complete returns the response of a request without a limit unchanged', () => {
  const response = new Response('ok');
  expect(rateLimit({ policy }).complete(new Request('http://127.0.0.1/'), response)).toBe(response);
});

test('errorResponse turns errors into responses', async () => {
  const store = memoryStore({ clock: new ManualClock() });
  const limit = rateLimit({ name: 'api', policy, store, throw: true, validate: false });
  const app = new Hono();
  app.use(async (context, next) => {
    await limit(context.req.raw, { ip: context.req.header('x-address') });
    await next();
  });
  app.get('/', (context) => context.text('ok'));
  app.onError((error, context) => errorResponse(error, context.req.raw) ?? context.text('other', 500));
  const headers = { 'x-address': '192.0.2.1' };
  expect((await app.request('/', { headers })).status).toBe(200);
  const denied = await app.request('/', { headers });
  expect([denied.status, denied.headers.get('Retry-After')]).toEqual([429, '60']);
  expect((await app.request('/', { headers: { 'x-address': 'none' } })).status).toBe(400);
  expect((await app.request('/')).status).toBe(500);
  expect(errorResponse(new Error('other'), new Request('http://127.0.0.1/'))).toBeUndefined();
});

test('errorResponse completes the request for the limits that it has passed', async () => {
  const slots = rateLimit({
    name: 'slots',
    policy: concurrency({ limit: 1, lease: '1h' }),
    limitType: 'METHOD',
  });
  const api = rateLimit({ name: 'api', policy, key: '#{headers.x-key}' });
  const serve = async (request: Request) => {
    try {
      const denied = (await slots(request)) ?? (await api(request));
      return denied ?? api.complete(request, new Response('ok'));
    } catch (error) {
      return errorResponse(error, request)!;
    }
  };
  for (let i = 0; i < 3; i += 1) {
    const refused = await serve(new Request('http://127.0.0.1/'));
    expect([refused.status, refused.headers.get('RateLimit-Policy')]).toEqual([
      400,
      '"slots";q=1;qu="concurrent-requests"',
    ]);
    await new Promise(setImmediate); // the release needs a few turns of promises
  }
  const passed = await serve(new Request('http://127.0.0.1/', { headers: { 'x-key': 'a' } }));
  expect(passed.status).toBe(200);
  await slots.close();
});

test('complete returns a response that cannot carry headers unchanged', async () => {
  const limit = rateLimit({ policy });
  const request = new Request('http://127.0.0.1/');
  await limit(request, { ip: '192.0.2.1' });
  const response = Response.error();
  expect(limit.complete(request, response)).toBe(response);
});
