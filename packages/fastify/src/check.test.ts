import { concurrency, fixedWindow, isRequestForbiddenError, memoryStore, redisStore } from '@sluice/core';
import fastify, { type FastifyInstance } from 'fastify';
import { type CreateRateLimitOptions, type RateLimitCheckResult, rateLimit } from './index.js';

let app: FastifyInstance;
beforeEach(() => {
  app = fastify();
});
afterEach(() => app.close());

/** A route that returns the result of a check. */
function serve(options?: CreateRateLimitOptions, increment?: boolean): () => Promise<RateLimitCheckResult> {
  const check = app.createRateLimit(options);
  app.get('/', (request) => check(request, { increment }));
  return async () => (await app.inject('/')).json();
}

const first = {
  isAllowed: false,
  key: '127.0.0.1',
  max: 2,
  timeWindow: 3_600_000,
  remaining: 1,
  ttl: 3_600_000,
  ttlInSeconds: 3600,
  isExceeded: false,
  isBanned: false,
};

test('returns the decision and leaves the response unchanged', async () => {
  await app.register(rateLimit, { global: false });
  const result = serve({ max: 2, timeWindow: '1h', ban: 1 });
  expect(await result()).toEqual(first);
  expect(await result()).toMatchObject({ remaining: 0, isExceeded: false });
  expect(await result()).toMatchObject({ remaining: 0, isExceeded: true, isBanned: false });
  const { headers, statusCode } = await app.inject('/');
  expect([statusCode, headers.ratelimit]).toEqual([200, undefined]);
  expect(await result()).toMatchObject({ isExceeded: true, isBanned: true });
});

test('without options, applies the limit of the plugin', async () => {
  await app.register(rateLimit, { global: false, max: 2, timeWindow: '1h' });
  const result = serve();
  app.get('/limited', { config: { rateLimit: {} } }, async () => 'ok');
  expect(await result()).toEqual(first);
  expect((await app.inject('/limited')).headers.ratelimit).toMatch(/r=0/);
  expect(await result()).toMatchObject({ isExceeded: true });
});

test('with increment: false, counts nothing', async () => {
  await app.register(rateLimit, { global: false, max: 1, timeWindow: '1h' });
  const check = app.createRateLimit({ ban: 1 });
  app.get('/', (request) => check(request));
  app.get('/look', (request) => check(request, { increment: false }));
  const look = async () => (await app.inject('/look')).json();
  for (let i = 0; i < 3; i += 1) expect(await look()).toMatchObject({ remaining: 1, isExceeded: false });
  await app.inject('/');
  for (let i = 0; i < 3; i += 1) {
    expect(await look()).toMatchObject({ remaining: 0, isExceeded: true, isBanned: false });
  }
  await app.inject('/');
  expect(await look()).toMatchObject({ isExceeded: true, isBanned: true });
});

test('allowList and skip allow a request, denyList throws', async () => {
  await app.register(rateLimit, { global: false, max: 1 });
  const listed = app.createRateLimit({ allowList: (_request, key) => key === '127.0.0.1' });
  const skipped = app.createRateLimit({ skip: () => true });
  const denied = app.createRateLimit({ denyList: ['127.0.0.1'] });
  app.get('/listed', (request) => listed(request));
  app.get('/skipped', (request) => skipped(request));
  app.get('/denied', (request) => denied(request));
  app.setErrorHandler((error, _request, reply) => reply.send({ forbidden: isRequestForbiddenError(error) }));
  for (const url of ['/listed', '/skipped']) {
    expect((await app.inject(url)).json()).toEqual({ isAllowed: true, key: '127.0.0.1' });
  }
  expect((await app.inject('/denied')).json()).toEqual({ forbidden: true });
});

test('a request that is skipped or on a list needs no key', async () => {
  await app.register(rateLimit, { global: false, max: 1, limitType: 'USER' });
  const checks = {
    '/listed': app.createRateLimit({ allowList: ['127.0.0.1'] }),
    '/skipped': app.createRateLimit({ skip: () => true }),
    '/denied': app.createRateLimit({ denyList: ['127.0.0.1'] }),
    '/counted': app.createRateLimit(),
  };
  for (const [url, check] of Object.entries(checks)) app.get(url, (request) => check(request));
  for (const url of ['/listed', '/skipped']) {
    expect((await app.inject(url)).json()).toEqual({ isAllowed: true, key: '' });
  }
  expect((await app.inject('/denied')).statusCode).toBe(403);
  expect((await app.inject('/counted')).statusCode).toBe(500);
});

test('max and timeWindow can be functions of request and key; request.rateLimit has the decision', async () => {
  const store = memoryStore();
  await app.register(rateLimit, { global: false, store });
  const check = app.createRateLimit({
    name: 'check',
    keyGenerator: ({ headers }) => String(headers['x-user']),
    max: (_request, key) => (key === 'ann' ? 5 : 1),
    timeWindow: async (_request, key) => (key === 'ann' ? '2h' : 60_000),
  });
  app.get('/', async (request) => [await check(request), request.rateLimit?.name]);
  const result = async (user: string) => (await app.inject({ url: '/', headers: { 'x-user': user } })).json();
  expect(await result('ann')).toEqual([expect.objectContaining({ max: 5, timeWindow: 7_200_000 }), 'check']);
  expect(await result('bob')).toEqual([expect.objectContaining({ max: 1, timeWindow: 60_000 }), 'check']);
  await store.close();
});

test('throws for a missing key, and for a denial by the failure policy', async () => {
  const store = redisStore('redis://127.0.0.1:1');
  await app.register(rateLimit, { global: false, max: 1 });
  const byPhone = app.createRateLimit({ key: '#{query.phone}' });
  const denies = app.createRateLimit({ name: 'out', store, failurePolicy: 'deny' });
  app.get('/phone', (request) => byPhone(request));
  app.get('/out', (request) => denies(request));
  expect((await app.inject('/phone')).statusCode).toBe(400);
  expect((await app.inject('/out')).statusCode).toBe(503);
  await store.close();
});

test('exposes its limiter', async () => {
  await app.register(rateLimit);
  const check = app.createRateLimit({ policy: fixedWindow({ limit: 1, window: '1h' }) });
  app.get('/', (request) => check(request));
  await app.inject('/');
  await check.limiter.reset('127.0.0.1');
  expect((await app.inject('/')).json()).toMatchObject({ isExceeded: false });
});

test('holds the permit of a concurrency policy until the code releases it', async () => {
  await app.register(rateLimit);
  const check = app.createRateLimit({ policy: concurrency({ limit: 1, lease: '1d' }) });
  app.get('/', (request) => check(request));
  app.get('/done', async (request) => {
    const result = await check(request);
    await check.limiter.release(request.rateLimit!);
    return result;
  });
  for (let i = 0; i < 2; i += 1)
    expect((await app.inject('/done')).json()).toMatchObject({ isExceeded: false });
  expect((await app.inject('/')).json()).toMatchObject({ isExceeded: false });
  expect((await app.inject('/')).json()).toMatchObject({ isExceeded: true });
});

test.each(['message', 'handler', 'throw', 'onExceeding', 'skipFailedRequests', 'legacyHeaders'])(
  'rejects %s, which would have no effect',
  async (option) => {
    await app.register(rateLimit);
    expect(() => app.createRateLimit({ max: 1, [option]: () => {} })).toThrow(
      `createRateLimit: ${option} has no effect`,
    );
  },
);

test('rejects an unknown option of a call', async () => {
  await app.register(rateLimit);
  const check = app.createRateLimit({ max: 1 });
  app.get('/', (request) => check(request, { incremnt: false } as object));
  expect((await app.inject('/')).json().message).toContain("no option 'incremnt'");
});
