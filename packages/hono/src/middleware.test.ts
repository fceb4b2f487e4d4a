import {
  concurrency,
  fixedWindow,
  isRateLimitExceededError,
  ManualClock,
  memoryStore,
  RateLimiter,
} from '@sluice/core';
import { currentRequest } from '@sluice/http';
import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { hc } from 'hono/client';
import { getConnInfo } from 'hono/cloudflare-workers';
import { validator } from 'hono/validator';
import { errorResponse, type RateLimitVariables, rateLimit, requestContext } from './index.js';

// Requests here come without Node.js's own, as in workers; tests/contracts/adapters serves them by @hono/node-server.

const one = fixedWindow({ limit: 1, window: '1m' });
/** Its clock does not advance, so headers show the same seconds on a slow machine. */
const still = (name = 'default') => ({ name, store: memoryStore({ clock: new ManualClock() }) });
const from = (address: string) => ({ headers: { 'cf-connecting-ip': address } });

test('getConnInfo of the runtime names the client, and the decision is at c.var.rateLimit', async () => {
  const app = new Hono<{ Variables: RateLimitVariables }>();
  app.use(rateLimit({ ...still('site'), limit: 2, windowMs: 60_000, getConnInfo }));
  app.get('/', (context) => context.text(`${context.var.rateLimit?.remaining} left`));
  const passed = await app.request('/', from('192.0.2.1'));
  expect([await passed.text(), passed.headers.get('RateLimit')]).toEqual(['1 left', '"site";r=1;t=60']);
  await app.request('/', from('192.0.2.1'));
  const denied = await app.request('/', from('192.0.2.1'));
  expect([denied.status, denied.headers.get('Retry-After')]).toEqual([429, '60']);
  expect(await denied.json()).toMatchObject({ 'violated-policies': ['site'] });
  expect((await app.request('/', from('192.0.2.2'))).status).toBe(200);
});

test('without an address, the request is a 500 without details', async () => {
  const app = new Hono().use(rateLimit({ policy: one, validate: false })).get('/', (c) => c.text('ok'));
  app.onError((error, context) => errorResponse(error, context) ?? context.text(error.message, 500));
  expect(await (await app.request('/')).text()).toBe('The server has no rate limit key for this request');
});

test('a function of the bindings is called once, for the first request', async () => {
  interface AppEnv {
    Bindings: { LIMIT: number };
    Variables: RateLimitVariables;
  }
  const clock = new ManualClock();
  const options = jest.fn(({ LIMIT }: AppEnv['Bindings']) => ({
    name: 'site',
    limit: LIMIT,
    store: memoryStore({ clock }),
    limitType: 'METHOD' as const,
  }));
  const app = new Hono<AppEnv>().use(rateLimit<AppEnv>(options)).get('/', (c) => c.text('ok'));
  const statuses = [];
  for (let i = 0; i < 3; i += 1) statuses.push((await app.request('/', {}, { LIMIT: 2 })).status);
  expect(statuses).toEqual([200, 200, 429]);
  expect(options).toHaveBeenCalledTimes(1);
});

test('clients of the RPC get the type of the 429', async () => {
  const app = new Hono().get('/x', rateLimit({ policy: one, limitType: 'METHOD' }), (context) =>
    context.json({ left: context.var.rateLimit?.remaining }, 200),
  );
  const client = hc<typeof app>('http://localhost', { fetch: app.request });
  const passed = await client.x.$get();
  if (passed.status !== 200) throw new Error('it was denied');
  const { left }: { left: number | undefined } = await passed.json();
  expect(left).toBe(0);
  const denied = await client.x.$get();
  if (denied.status !== 429) throw new Error('it passed');
  const { 'violated-policies': violated }: { 'violated-policies': readonly string[] } = await denied.json();
  expect(violated).toEqual(['default']);
});

test('limits of an app, of a router and of a route have common headers', async () => {
  const policy = fixedWindow({ limit: 5, window: '1m' });
  const limit = (name: string) => rateLimit({ name, policy, limitType: 'METHOD' });
  const items = new Hono().use(limit('router')).get('/:id', limit('route'), (c) => c.text('ok'));
  const app = new Hono().use(limit('app')).route('/items', items);
  const { headers } = await app.request('/items/7');
  expect(headers.get('RateLimit')).toBe('"app";r=4;t=60, "router";r=4;t=60, "route";r=4;t=60');
});

test('limits around a middleware that replaces the request have common headers, also in a mounted app', async () => {
  const limit = (name: string, policy = one) => rateLimit({ ...still(name), policy, limitType: 'METHOD' });
  const app = new Hono()
    .use(limit('app', fixedWindow({ limit: 3, window: '1m' })))
    .use(bodyLimit({ maxSize: 99 }));
  app.post('/', limit('route'), (c) => c.text('ok'));
  const mounted = new Hono().post('/mounted', limit('mounted'), (c) => c.text('ok'));
  app.post('/mounted', limit('scope'), (c) => mounted.fetch(c.req.raw));
  const post = async (path: string) => {
    const body = new Blob(['chunks']).stream();
    const init = { method: 'POST', body, duplex: 'half' as const };
    return (await app.request(new Request(`http://localhost${path}`, init))).headers;
  };
  expect((await post('/')).get('RateLimit')).toBe('"app";r=2;t=60, "route";r=0;t=60');
  expect((await post('/')).get('Retry-After')).toBe('60');
  expect((await post('/mounted')).get('RateLimit')).toBe(
    '"app";r=0;t=60, "scope";r=0;t=60, "mounted";r=0;t=60',
  );
});

test('a key has parameters, the route and the validated body', async () => {
  const keys: string[] = [];
  const app = new Hono().post(
    '/shops/:shop',
    validator('json', (value: { phone: string }) => value),
    rateLimit({
      policy: one,
      key: '#{params.shop} #{route} #{body.phone}',
      onLimited: (context) => {
        keys.push(`${context.req.path} ${context.get('rateLimit').name}`);
      },
    }),
    (c) => c.text('ok'),
  );
  const post = (shop: string, phone: string) =>
    app.request(`/shops/${shop}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ phone }),
    });
  expect((await post('a', '1')).status).toBe(200);
  expect((await post('a', '2')).status).toBe(200);
  expect((await post('b', '1')).status).toBe(200);
  expect((await post('a', '1')).status).toBe(429);
  expect(keys).toEqual(['/shops/a default']);
});

test('a route with an expression has a route', async () => {
  const limit = rateLimit({ policy: one, key: '#{route}' });
  const app = new Hono().get('/files/:name{.*}', limit, (c) => c.text('ok'));
  expect([(await app.request('/files/a')).status, (await app.request('/files/b')).status]).toEqual([
    200, 429,
  ]);
});

test('a limit of app.use has no route', async () => {
  const app = new Hono().use(rateLimit({ policy: one, key: '#{route}', validate: false }));
  app.get('/', (c) => c.text('ok'));
  const errors: unknown[] = [];
  app.onError((error, context) => {
    errors.push(error.cause);
    return context.text('no', 500);
  });
  await app.request('/');
  expect(String(errors[0])).toContain('Put the limit on the route itself: app.get(path, limit, …)');
});

test.each([
  [{ skipFailedRequests: true }, '/fails'],
  [{ skipSuccessfulRequests: true }, '/'],
  [{ policy: concurrency({ limit: 1, lease: '1h' }) }, '/'],
])('with %j, permits come back when the handler has answered', async (options, path) => {
  const app = new Hono().use(rateLimit({ policy: one, limitType: 'METHOD', ...options }));
  app.get('/', (c) => c.text('ok'));
  app.get('/fails', () => {
    throw new Error('it failed');
  });
  app.onError((_error, context) => context.text('no', 500));
  for (let i = 0; i < 3; i += 1) expect((await app.request(path)).status).not.toBe(429);
});

test.each([[{ skipFailedRequests: true }], [{ policy: concurrency({ limit: 1, lease: '1h' }) }]])(
  'with %j, permits come back when the handler throws a text',
  async (options) => {
    const app = new Hono().use(rateLimit({ policy: one, limitType: 'METHOD', ...options }));
    app.get('/', () => {
      throw 'a text';
    });
    app.onError((_error, context) => context.text('no', 500));
    for (let i = 0; i < 3; i += 1) await expect((async () => app.request('/'))()).rejects.toBe('a text');
  },
);

test('a text that a handler throws stays one behind an option that lets denied requests pass', async () => {
  const limit = rateLimit({ policy: one, limitType: 'METHOD', handler: (_c, next) => next() });
  const app = new Hono().use(limit).get('/', () => {
    throw 'a text';
  });
  for (let i = 0; i < 2; i += 1) await expect((async () => app.request('/'))()).rejects.toBe('a text');
});

test('an option that throws a text is an error for app.onError', async () => {
  const skip = () => {
    throw 'a text';
  };
  const app = new Hono()
    .use(rateLimit({ policy: one, limitType: 'METHOD', skip }))
    .get('/', (c) => c.text('ok'));
  app.onError((error, context) => context.text(error.message, 500));
  expect(await (await app.request('/')).text()).toBe('rateLimit: an option threw "a text"');
});

test('a client that disconnects while it waits does not count', async () => {
  const limit = rateLimit({ policy: one, timeout: '1h', limitType: 'METHOD' });
  const app = new Hono().use(limit).get('/', (c) => c.text('ok'));
  await app.request('/');
  const leaving = new AbortController();
  const waiting = app.request('/', { signal: leaving.signal });
  leaving.abort();
  expect((await waiting).status).toBe(408);
  await limit.limiter.reset('all');
  expect((await app.request('/')).status).toBe(200);
  await limit.close();
});

test('a client that disconnected before its decision leaves no permit taken', async () => {
  const limit = rateLimit({ policy: one, limitType: 'METHOD', skipFailedRequests: true });
  const app = new Hono().use(limit).get('/', (c) => c.text('ok'));
  await app.request('/', { signal: AbortSignal.abort() });
  expect((await app.request('/')).status).toBe(200);
});

test('errors answer by themselves, and keep their codes for app.onError', async () => {
  const thrower = () =>
    new Hono()
      .use(rateLimit({ ...still(), policy: one, limitType: 'METHOD', throw: true }))
      .get('/', (c) => c.text('ok'));
  const plain = thrower();
  await plain.request('/');
  const denied = await plain.request('/');
  expect([denied.status, denied.headers.get('Retry-After'), denied.headers.get('RateLimit')]).toEqual([
    429,
    '60',
    '"default";r=0;t=60',
  ]);
  const own = thrower().onError((error, context) =>
    context.json({ ours: isRateLimitExceededError(error) }, 418),
  );
  await own.request('/');
  const answered = await own.request('/');
  expect([answered.status, answered.headers.get('Retry-After')]).toEqual([418, '60']);
  expect(await answered.json()).toEqual({ ours: true });
});

test('a denial that a handler throws is a 429 by errorResponse', async () => {
  const limiter = new RateLimiter({ name: 'inner', policy: one });
  const app = new Hono().get('/', async (context) => {
    await limiter.acquire('k', { timeout: 0 });
    return context.text('ok');
  });
  app.onError((error, context) => errorResponse(error, context) ?? context.text('sorry', 500));
  expect((await app.request('/')).status).toBe(200);
  const denied = await app.request('/', { headers: { accept: 'text/html' } });
  expect([denied.status, denied.headers.get('Content-Type')]).toEqual([429, 'text/html; charset=utf-8']);
});

test('handler answers a denied request, or lets it pass', async () => {
  const app = new Hono();
  app.get(
    '/own',
    rateLimit({
      ...still(),
      policy: one,
      limitType: 'METHOD',
      handler: (c, _next, { retryAfter }) => c.json({ retryAfter }, 418),
    }),
    (c) => c.text('ok'),
  );
  app.get('/passes', rateLimit({ policy: one, limitType: 'METHOD', handler: (_c, next) => next() }), (c) =>
    c.text('ok'),
  );
  await app.request('/own');
  const denied = await app.request('/own');
  expect([denied.status, denied.headers.get('RateLimit')]).toEqual([418, '"default";r=0;t=60']);
  await app.request('/passes');
  expect((await app.request('/passes')).status).toBe(200);
});

test('an upgrade keeps its response', async () => {
  const upgraded = Object.defineProperty(new Response(null), 'status', { value: 101 });
  const app = new Hono().use(rateLimit({ policy: one, limitType: 'METHOD' })).get('/', () => upgraded);
  expect(await app.request('/')).toBe(upgraded);
});

test('requestContext makes the request known to code that serves it', async () => {
  const app = new Hono()
    .use(requestContext({ getConnInfo }))
    .get('/', (c) => c.text(currentRequest()?.ip ?? ''));
  expect(await (await app.request('/', from('192.0.2.7'))).text()).toBe('192.0.2.7');
});

test.each([
  [{ windowMs: 1000 }, 'windowMs needs limit'],
  [{ limit: Number.NaN }, 'limit must be a whole number'],
  [{ limit: 5, windowMs: 1e15 }, 'to 3650 days'],
  [{ limit: 5, binding: {} }, 'pass store, or a function of the bindings'],
  [{ limit: 5, requestPropertyName: 'x' }, 'read the decision at c.var.rateLimit'],
  [{ limit: 5, getConnInfo: '192.0.2.1' }, 'getConnInfo must be a function'],
  [{ limit: 5, store: { increment() {} } }, 'store is a store of hono-rate-limiter'],
])('rateLimit(%j) throws', (options, message) => {
  expect(() => rateLimit(options as never)).toThrow(message);
});

test.each<[string, boolean, (context: Context) => Response]>([
  ['that Hono makes is sent as it is', true, (context) => context.text('ok')],
  ['of the handler is copied', false, () => new Response('ok')],
])('a response %s, and has the headers', async (_, isSame, respond) => {
  const limit = rateLimit({ ...still(), policy: one, limitType: 'METHOD' });
  const made: Response[] = [];
  const app = new Hono()
    .use(async (context, next) => {
      await next();
      made.push(context.res);
    })
    .use(limit)
    .get('/', (context) => {
      const response = respond(context);
      made.push(response);
      return response;
    });
  const { headers } = await app.request('/');
  expect(headers.get('RateLimit')).toBe('"default";r=0;t=60');
  expect(made[0] === made[1]).toBe(isSame);
});
