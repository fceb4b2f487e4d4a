import { fixedWindow, ManualClock, memoryStore, RateLimiter, redisStore, type Store } from '@sluice/core';
import createApp from 'fastify';
import { failingStore } from '../../../tests/support/failing-store.js';
import { farStore } from '../../../tests/support/far-store.js';
import { redisUrl, uniqueName } from '../../../tests/support/redis-url.js';
import { fastifyRateLimitStore } from './index.js';

/** On a busy machine Redis may take longer than usual, and this process must not count by itself. */
const deadline = '10s';

/** A server behind the real host, with a route that has a limit of its own. */
async function served(store: Store | undefined, options: object = {}, name = 'api') {
  const app = createApp();
  const { default: rateLimit } = await import('@fastify/rate-limit' as string); // its types conflict with ours
  const counts = fastifyRateLimitStore(store && { name, store, deadline });
  await app.register(rateLimit, {
    max: 2,
    timeWindow: 10_000,
    keyGenerator: () => 'k',
    store: counts,
    ...options,
  });
  app.get('/', async () => 'ok');
  app.get('/other', async () => 'ok');
  app.get('/own', { config: { rateLimit: { max: 1, timeWindow: 10_000 } } }, async () => 'ok');
  const read = app.createRateLimit();
  app.get('/left', { config: { rateLimit: false } }, async (request) => read(request, { increment: false }));
  const get = async (url = '/') => {
    const { statusCode, headers, body } = await app.inject(url);
    const { 'x-ratelimit-remaining': left, 'retry-after': wait } = headers;
    return { statusCode, left: Number(left), wait: Number(wait), body };
  };
  return {
    app,
    get,
    statuses: async (times: number) => {
      const all = [];
      for (let i = 0; i < times; i += 1) all.push((await get()).statusCode);
      return all;
    },
  };
}

const inMemory = async (options: object = {}) => {
  const clock = new ManualClock();
  return { clock, ...(await served(memoryStore({ clock }), options)) };
};

test('@fastify/rate-limit counts in memory, from the first hit to the end of its window', async () => {
  const { clock, get } = await inMemory();
  expect(await get()).toMatchObject({ statusCode: 200, left: 1 });
  await clock.advance('4s');
  expect(await get('/other')).toMatchObject({ statusCode: 200, left: 0 });
  expect(await get()).toMatchObject({ statusCode: 429, wait: 6 });
  await clock.advance('6s');
  expect(await get()).toMatchObject({ statusCode: 200, left: 1 });
});

test('a route with a limit of its own counts apart', async () => {
  const { get } = await inMemory();
  expect((await get('/own')).statusCode).toBe(200);
  expect((await get('/own')).statusCode).toBe(429);
  expect(await get()).toMatchObject({ statusCode: 200, left: 1 });
});

test('limits of app.rateLimit and app.createRateLimit with options count apart, by their order', async () => {
  const store = memoryStore();
  const processes = [];
  for (let i = 0; i < 2; i += 1) {
    const { app } = await served(store, { global: false }, 'unrouted');
    app.get('/search', { preHandler: app.rateLimit({ max: 9 }) }, async () => 'found');
    app.get('/login', { preHandler: app.rateLimit({ max: 2 }) }, async () => 'in');
    const check = app.createRateLimit({ max: 1 });
    app.get('/check', async (request) => check(request));
    processes.push(app);
  }
  const [one, other] = processes;
  for (let i = 0; i < 5; i += 1) await one!.inject('/search');
  expect(JSON.parse((await one!.inject('/check')).body)).toMatchObject({ isExceeded: false });
  const statuses = [];
  for (const app of [one!, other!, one!]) statuses.push((await app.inject('/login')).statusCode);
  expect(statuses).toEqual([200, 200, 429]); // equal processes share it
  expect(JSON.parse((await other!.inject('/check')).body)).toMatchObject({ isExceeded: true });
});

test('@fastify/rate-limit in two processes shares its counts in Redis', async () => {
  const name = uniqueName('frl');
  const stores = [redisStore(redisUrl()), redisStore(redisUrl())];
  const one = await served(stores[0], {}, name);
  const other = await served(stores[1], {}, name);
  expect((await one.get()).statusCode).toBe(200);
  expect((await other.get()).statusCode).toBe(200);
  expect((await one.get()).statusCode).toBe(429);
  await Promise.all(stores.map((store) => store.close()));
});

test('createRateLimit reads a key without a hit', async () => {
  const { get } = await inMemory();
  const left = async () => JSON.parse((await get('/left')).body);
  expect(await left()).toMatchObject({ remaining: 2, ttl: 0, isExceeded: false });
  await get();
  expect(await left()).toMatchObject({ remaining: 1, ttl: 10_000 });
  expect(await left()).toMatchObject({ remaining: 1 });
});

test.each([{}, { max: 0 }, { ban: 9 }])(
  'with %j, a key that is read before each hit is exceeded in the end',
  async (options) => {
    const { app } = await inMemory({ global: false, ...options });
    const check = app.createRateLimit();
    let checked = 0;
    app.post('/login', async (request, reply) => {
      if (((await check(request, { increment: false })) as { isExceeded: boolean }).isExceeded)
        return reply.code(429).send();
      checked += 1;
      await check(request);
      return reply.code(401).send();
    });
    for (let i = 0; i < 9; i += 1) await app.inject({ method: 'POST', url: '/login' });
    // A host that only counts sees the hit above its limit.
    expect(checked).toBe({ max: 2, ...options }.max + ('ban' in options ? 1 : 0));
  },
);

test('a read of an overridden key obeys the override', async () => {
  const store = memoryStore();
  const { get } = await served(store);
  const tool = new RateLimiter({ name: 'api', policy: fixedWindow({ limit: 2, window: '10s' }), store });
  await tool.override(':k', fixedWindow({ limit: 5, window: '10s' }), { expiresIn: '1h' });
  for (let i = 0; i < 4; i += 1) expect((await get()).statusCode).toBe(200);
  expect(JSON.parse((await get('/left')).body)).toMatchObject({ remaining: 1, isExceeded: false });
  await get();
  expect(JSON.parse((await get('/left')).body)).toMatchObject({ isExceeded: true });
});

test('ban answers 403 after as many denials', async () => {
  const { statuses } = await inMemory({ ban: 2 });
  expect(await statuses(7)).toEqual([200, 200, 429, 429, 403, 403, 403]);
});

test('continueExceeding begins the window again with each hit above the limit', async () => {
  const { clock, get } = await inMemory({ continueExceeding: true });
  await get();
  await get();
  for (let i = 0; i < 3; i += 1) {
    await clock.advance('9s');
    expect(await get()).toMatchObject({ statusCode: 429, wait: 10 });
  }
  await clock.advance('10s');
  expect(await get()).toMatchObject({ statusCode: 200, left: 1 });
});

test('exponentialBackoff doubles the wait with each hit above the limit', async () => {
  const { clock, get } = await inMemory({ exponentialBackoff: true });
  await get();
  await get();
  for (const wait of [10, 20, 40]) expect(await get()).toMatchObject({ statusCode: 429, wait });
  await clock.advance('39s');
  expect(await get()).toMatchObject({ statusCode: 429, wait: 80 });
  await clock.advance('80s');
  expect(await get()).toMatchObject({ statusCode: 200, left: 1 });
});

test('the wait of exponentialBackoff ends at ten years', async () => {
  const { get } = await inMemory({ exponentialBackoff: true });
  let wait = 0;
  for (let i = 0; i < 50; i += 1) wait = (await get()).wait;
  expect(wait).toBe(3650 * 86_400);
});

test('a read does not shorten the wait of exponentialBackoff', async () => {
  const { clock, get } = await inMemory({ exponentialBackoff: true });
  for (let i = 0; i < 5; i += 1) await get();
  const read = async () => JSON.parse((await get('/left')).body);
  expect(await read()).toMatchObject({ ttl: 40_000, isExceeded: true });
  await clock.advance('30s');
  expect(await read()).toMatchObject({ ttl: 10_000, isExceeded: true });
  expect(await get()).toMatchObject({ statusCode: 429, wait: 80 });
});

/** A server on whose key others act between a hit and its longer wait. The limiters of the others are on the same store. */
async function interrupted() {
  const far = farStore();
  let between = () => {};
  const decide: Store['decide'] = (call) => {
    if (call.operation !== 'consume') between();
    return far.store.decide(call);
  };
  const { get } = await served({ ...far.store, decide }, { exponentialBackoff: true });
  const policy = fixedWindow({ limit: 2 ** 40, window: '10s' });
  const other = new RateLimiter({ name: 'api', policy, store: far.memory });
  await get();
  await get();
  return {
    get,
    clock: far.clock,
    other,
    /** A hit above the limit, and once `act` before its wait is written. */
    hitDuring: async (act: () => unknown) => {
      between = () => {
        between = () => {};
        act();
      };
      return get();
    },
  };
}

test('a block that an operator sets while a longer wait is written stays', async () => {
  const { get, clock, other, hitDuring } = await interrupted();
  expect(await hitDuring(() => other.block(':k', '1h'))).toMatchObject({ statusCode: 429, wait: 10 });
  await clock.advance('30s');
  expect((await get()).statusCode).toBe(429);
  await clock.advance('1h');
  expect((await get()).statusCode).toBe(200);
});

test('a hit that another process counts while a longer wait is written counts', async () => {
  const { get, other, hitDuring } = await interrupted();
  expect(await hitDuring(() => other.consume(':k'))).toMatchObject({ statusCode: 429 });
  expect(await get()).toMatchObject({ statusCode: 429, wait: 40 }); // it is the fifth hit
});

test('in Redis, a longer wait is written by the turn that reads it', async () => {
  const store = redisStore(redisUrl());
  const { get } = await served(store, { exponentialBackoff: true }, uniqueName('backoff'));
  await get();
  await get();
  for (const wait of [10, 20, 40]) expect(await get()).toMatchObject({ statusCode: 429, wait });
  await store.close();
});

test('while the store is out, this process counts, and windows stay as they are', async () => {
  const far = failingStore();
  far.fail();
  const { statuses } = await served(far.store, { continueExceeding: true });
  expect(await statuses(4)).toEqual([200, 200, 429, 429]);
});

test('a store that fails between a hit and its longer wait does not fail the request', async () => {
  const far = failingStore();
  const { get, statuses } = await served(far.store, { exponentialBackoff: true });
  far.refuse('refund', 'charge');
  expect(await statuses(2)).toEqual([200, 200]);
  expect(await get()).toMatchObject({ statusCode: 429, wait: 10 });
});

test('what cannot be counted is an error of the request', async () => {
  const { get } = await inMemory({ timeWindow: 0 });
  expect(JSON.parse((await get()).body)).toMatchObject({
    statusCode: 500,
    message: expect.stringContaining('fixedWindow: window must be a duration'),
  });
});

test('a max of 0 denies each request', async () => {
  const { statuses } = await inMemory({ max: 0 });
  expect(await statuses(2)).toEqual([429, 429]);
});
