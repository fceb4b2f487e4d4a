import { concurrency, fixedWindow, RateLimiter } from '@sluice/core';
import fastify, { type FastifyInstance } from 'fastify';
import { rateLimit } from './index.js';

const policy = (limit: number) => fixedWindow({ limit, window: '1m' });

let app: FastifyInstance;
beforeEach(() => {
  app = fastify();
});
afterEach(() => app.close());

const status = async (url: string) => (await app.inject(url)).statusCode;

test('rejects an unknown hook', async () => {
  await expect(app.register(rateLimit, { policy: policy(1), hook: 'onSend' as never })).rejects.toThrow(
    'hook must be one of onRequest, preParsing, preValidation, preHandler, not "onSend"',
  );
});

test('rejects a mistyped option', async () => {
  await expect(app.register(rateLimit, { polcy: policy(1) } as never)).rejects.toThrow("no option 'polcy'");
});

test('limits the routes of the scope in which it is registered', async () => {
  app.get('/free', async () => 'free');
  await app.register(async (scope) => {
    await scope.register(rateLimit, { policy: policy(1) });
    scope.get('/limited', async () => 'limited');
  });
  expect([await status('/limited'), await status('/limited')]).toEqual([200, 429]);
  expect([await status('/free'), await status('/free')]).toEqual([200, 200]);
});

test("a route's own limit applies as well as the limit of the plugin", async () => {
  await app.register(rateLimit, { name: 'all', policy: policy(3) });
  const preHandler = app.rateLimit({ name: 'one', policy: policy(1) });
  app.get('/one', { preHandler }, async (request) => request.rateLimit?.name);
  app.get('/other', async (request) => request.rateLimit?.name);
  const first = await app.inject('/one');
  expect(first.body).toBe('one');
  expect(first.headers.ratelimit).toMatch(/^"all";r=2;t=60, "one";r=0;t=60$/);
  expect(await status('/one')).toBe(429);
  expect((await app.inject('/other')).body).toBe('all');
  expect(await status('/other')).toBe(429);
});

test("a policy function receives Fastify's request, with its types", async () => {
  await app.register(rateLimit);
  const onRequest = app.rateLimit({
    policy: ({ routeOptions }) => policy(routeOptions.url === '/big' ? 2 : 1),
  });
  for (const url of ['/small', '/big']) app.get(url, { onRequest }, async () => url);
  expect([await status('/small'), await status('/small')]).toEqual([200, 429]);
  expect([await status('/big'), await status('/big')]).toEqual([200, 429]);
});

test('a permit held by an injected request is released when the request ends', async () => {
  const limiter = new RateLimiter({ policy: concurrency({ limit: 1, lease: '1h' }) });
  await app.register(rateLimit, { limiter, limitType: 'METHOD' });
  app.get('/', async () => `${(await limiter.peek('all')).remaining} left`);
  for (let i = 0; i < 3; i += 1) {
    expect((await app.inject('/')).body).toBe('0 left');
    await limiter.release(await limiter.acquire('all')); // waits for the release
  }
  await limiter.close();
});

test('closes the limiters that it created, and not a limiter that it received', async () => {
  const mine = new RateLimiter({ policy: policy(1) });
  await app.register(rateLimit, { limiter: mine });
  await app.ready();
  await app.close();
  expect(await mine.consume('k')).toMatchObject({ allowed: true });
});
