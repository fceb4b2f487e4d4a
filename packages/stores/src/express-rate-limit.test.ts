import {
  fixedWindow,
  ManualClock,
  memoryStore,
  RateLimiter,
  recommendedRedisOptions,
  redisStore,
} from '@sluice/core';
import express from 'express';
import { type Options, rateLimit, type Store } from 'express-rate-limit';
import { Redis } from 'ioredis';
import supertest from 'supertest';
import { failingStore } from '../../../tests/support/failing-store.js';
import { redisUrl, uniqueName } from '../../../tests/support/redis-url.js';
import { rejection } from '../../../tests/support/rejection.js';
import { expressRateLimitStore } from './index.js';

/** On a busy machine Redis may take longer than usual, and this process must not count by itself. */
const deadline = '10s';

/** A server behind the real host; `/fails` answers 500. */
function served(store: Store, options: Partial<Options> = {}) {
  const app = express();
  app.use(rateLimit({ windowMs: 60_000, limit: 2, keyGenerator: () => 'k', store, ...options }));
  app.get('/', (request, response) => {
    response.json((request as { rateLimit?: object }).rateLimit);
  });
  app.get('/fails', (_request, response) => {
    response.status(500).end();
  });
  const agent = supertest(app);
  return async (path = '/') => agent.get(path);
}

test('express-rate-limit counts in memory, from the first hit to the end of its window', async () => {
  const clock = new ManualClock();
  const get = served(expressRateLimitStore({ name: 'api', store: memoryStore({ clock }) }));
  expect((await get()).body).toMatchObject({ limit: 2, used: 1, remaining: 1 });
  await clock.advance('59s');
  expect((await get()).body).toMatchObject({ used: 2, remaining: 0 });
  expect(await get()).toMatchObject({ status: 429, headers: { 'retry-after': '1' } });
  await clock.advance('1s');
  expect((await get()).body).toMatchObject({ used: 1 });
});

test('express-rate-limit in two processes shares its counts in Redis', async () => {
  const name = uniqueName('erl');
  const stores = [redisStore(redisUrl()), redisStore(redisUrl())];
  const [one, other] = stores.map((store) => served(expressRateLimitStore({ name, store, deadline })));
  try {
    expect((await one!()).body).toMatchObject({ used: 1 });
    expect((await other!()).body).toMatchObject({ used: 2 });
    expect((await one!()).status).toBe(429);
  } finally {
    await Promise.all(stores.map((store) => store.close()));
  }
});

test.each([
  [{ skipFailedRequests: true }, '/fails', '/'],
  [{ skipSuccessfulRequests: true }, '/', '/fails'],
])('with %j, a hit is taken back, also a denied one', async (options, skipped, counted) => {
  const store = expressRateLimitStore();
  const get = served(store, options);
  for (let i = 0; i < 4; i += 1) expect((await get(skipped)).status).not.toBe(429);
  await get(counted);
  await get(counted);
  for (let i = 0; i < 3; i += 1) expect((await get(counted)).status).toBe(429);
  // A 429 is a failed request: only skipFailedRequests takes it back.
  expect(await store.get('k')).toMatchObject({ totalHits: 'skipFailedRequests' in options ? 2 : 5 });
});

test('a limit computed for each request is compared by the host', async () => {
  let limit = 1;
  const get = served(expressRateLimitStore(), { limit: () => limit });
  expect((await get()).status).toBe(200);
  expect((await get()).status).toBe(429);
  limit = 3;
  expect((await get()).body).toMatchObject({ limit: 3, used: 3, remaining: 0 });
  expect((await get()).status).toBe(429);
});

test('resetKey and get do what the host expects', async () => {
  const store: Store = expressRateLimitStore();
  const get = served(store);
  expect(await store.get?.('k')).toBeUndefined();
  await get();
  expect(await store.get?.('k')).toEqual({ totalHits: 1, resetTime: expect.any(Date) });
  await store.resetKey('k');
  expect(await store.get?.('k')).toBeUndefined();
  await store.increment('k');
  await store.decrement('k');
  await store.decrement('k');
  expect((await store.increment('k')).totalHits).toBe(1);
});

test('get shows a key whose hits are denied above the limit', async () => {
  const clock = new ManualClock();
  const store = expressRateLimitStore({ name: 'api', store: memoryStore({ clock }) });
  store.init({ windowMs: 60_000, limit: 3 });
  for (let i = 0; i < 10; i += 1) await store.increment('k');
  expect(await store.get('k')).toMatchObject({ totalHits: 4 });
  await clock.advance('1m');
  expect(await store.get('k')).toBeUndefined();
});

test('a store that serves a second limit rejects the hits of both', async () => {
  const store = expressRateLimitStore();
  for (const limit of [5, 5]) store.init({ windowMs: 60_000, limit });
  expect((await store.increment('k')).totalHits).toBe(1);
  const message = 'expressRateLimitStore: this store serves another limit already; create one for each';
  expect(() => store.init({ windowMs: 60_000, limit: 20 })).toThrow(message);
  expect(await rejection(store.increment('k'))).toMatchObject({ message });
});

test('a denied client is answered without the store, and by its share while the store is out', async () => {
  const far = failingStore();
  const get = served(
    expressRateLimitStore({ name: 'api', store: far.store, failurePolicy: { local: { share: 0.5 } } }),
  );
  await get();
  await get();
  await get();
  const calls = far.operations.length;
  for (let i = 0; i < 5; i += 1) expect((await get()).status).toBe(429);
  expect(far.operations).toHaveLength(calls);
  await far.clock.advance('2m');
  far.fail();
  expect((await get()).status).toBe(200);
  expect((await get()).status).toBe(429);
});

test.each([
  ['allow' as const, [200, 200, 200]],
  ['deny' as const, [429, 429, 429]],
  [{ local: { share: 0.5 } }, [200, 429, 429]],
])('a host that only counts obeys failurePolicy %j', async (failurePolicy, statuses) => {
  const far = failingStore();
  far.fail();
  const store = expressRateLimitStore({ name: 'api', store: far.store, failurePolicy });
  const get = served(store, { limit: () => 2, skipFailedRequests: true });
  for (const status of statuses) expect((await get()).status).toBe(status);
});

test('hits of one turn travel together', async () => {
  const client = new Redis(redisUrl(), recommendedRedisOptions);
  const store = redisStore({ client, definitions: false }); // nothing else is sent
  const hits = expressRateLimitStore({ name: uniqueName('turn'), store, deadline });
  hits.init({ windowMs: 60_000, limit: 3 });
  await hits.increment('first'); // connects, and loads the script
  const sent = jest.spyOn(client, 'sendCommand');
  const all = await Promise.all(Array.from({ length: 5 }, () => hits.increment('k')));
  expect(all.map(({ totalHits }) => totalHits)).toEqual([1, 2, 3, 4, 4]);
  expect(sent.mock.calls.map(([command]) => command.name)).toEqual(['evalsha']);
  await store.close();
  await client.quit();
});

test('a hit that the store does not answer obeys failurePolicy at the deadline of the options', async () => {
  const far = failingStore();
  far.hold();
  const store = expressRateLimitStore({
    ...{ name: 'api', store: far.store, failurePolicy: 'deny', deadline: '500ms' },
  });
  const get = served(store);
  const before = performance.now();
  expect((await get()).status).toBe(429);
  expect(performance.now() - before).toBeGreaterThan(450); // the usual deadline is 100 ms
});

test('a limiter of the same name blocks and unblocks its clients', async () => {
  const store = memoryStore({ clock: new ManualClock() });
  const get = served(expressRateLimitStore({ name: 'api', store }));
  const tool = new RateLimiter({ name: 'api', policy: fixedWindow({ limit: 2, window: '1m' }), store });
  await tool.block('k', '1h');
  expect(await get()).toMatchObject({ status: 429, headers: { 'retry-after': '3600' } });
  await tool.unblock('k');
  expect((await get()).status).toBe(200);
});

test('an override of a key whose hits the host compares counts each hit once, and denies above its limit', async () => {
  const store = memoryStore();
  const get = served(expressRateLimitStore({ name: 'api', store }), { limit: () => 9 });
  const tool = new RateLimiter({ name: 'api', policy: fixedWindow({ limit: 9, window: '1m' }), store });
  await tool.override('k', fixedWindow({ limit: 2, window: '1m' }), { expiresIn: '1h' });
  expect((await get()).body).toMatchObject({ limit: 9, used: 1 });
  expect((await get()).body).toMatchObject({ limit: 9, used: 2 });
  expect((await get()).status).toBe(429);
});

test.each([
  [{ limit: Number.NaN, windowMs: 1000 }, 'fixedWindow: limit must be a whole number'],
  [{ limit: 2.5, windowMs: 1000 }, 'fixedWindow: limit must be a whole number'],
  [{ limit: -1, windowMs: 1000 }, 'fixedWindow: limit must be a whole number'],
  [{ limit: 5, windowMs: Number.NaN }, 'fixedWindow: window must be a duration'],
  [{ limit: 5, windowMs: 0 }, 'fixedWindow: window must be a duration'],
  [{ limit: 5, windowMs: 1e15 }, 'to 3650 days'],
])('init with %j throws, and so does each hit', async (options, message) => {
  const store = expressRateLimitStore();
  expect(() => store.init(options)).toThrow(message);
  expect(await rejection(store.increment('k'))).toMatchObject({ message: expect.stringContaining(message) });
});

test.each([[Number.POSITIVE_INFINITY], [Number.MAX_SAFE_INTEGER], [2 ** 41]])(
  'with a limit of %d, each hit passes',
  async (limit) => {
    const get = served(expressRateLimitStore(), { limit });
    for (let i = 0; i < 3; i += 1) expect((await get()).status).toBe(200);
  },
);

test('with a limit of 0, no hit passes', async () => {
  const store = expressRateLimitStore();
  store.init({ windowMs: 1000, limit: 0 });
  expect((await store.increment('k')).totalHits).toBe(1);
});

test.each([['{a}:b\r\n'], ['__proto__'], ['\ud800'], ['x'.repeat(100_000)], ['k}']])(
  'the key %j counts by itself',
  async (key) => {
    const redis = redisStore(redisUrl());
    const store = expressRateLimitStore({ name: uniqueName('keys'), store: redis, deadline });
    store.init({ windowMs: 60_000, limit: 5 });
    expect((await store.increment(key)).totalHits).toBe(1);
    expect((await store.increment(`${key}!`)).totalHits).toBe(1);
    expect((await store.increment(key)).totalHits).toBe(2);
    await redis.close();
  },
);

test.each([
  [{ limit: 5 }, "expressRateLimitStore has no option 'limit': the host counts by its own options"],
  [{ prefix: 'rl:' }, "has no option 'prefix': pass name"],
  [{ store: memoryStore() }, 'a limiter with a store needs a name'],
  [{ name: 'api', failurePolicy: 'open' }, 'failurePolicy must be'],
])('expressRateLimitStore(%j) throws', (options, message) => {
  expect(() => expressRateLimitStore(options as never)).toThrow(message);
});

test('a hit before init rejects, and names the remedy', async () => {
  const error = await rejection(expressRateLimitStore().increment('k'));
  expect(error).toMatchObject({
    message: expect.stringMatching(
      /^expressRateLimitStore: increment was called before init\. Pass the store/,
    ),
  });
});

test('an empty key counts by itself, and a key that is no text is refused', async () => {
  const store = expressRateLimitStore();
  store.init({ windowMs: 1000, limit: 5 });
  for (const key of ['', '"', '""']) expect((await store.increment(key)).totalHits).toBe(1);
  expect((await store.increment('')).totalHits).toBe(2);
  const error = await rejection(store.increment(undefined as never));
  expect(error).toMatchObject({ code: 'SLUICE_KEY_RESOLUTION' });
});

test('only the counts of a store without a store of yours are its own', async () => {
  expect(expressRateLimitStore().localKeys).toBe(true);
  const shared = expressRateLimitStore({ name: 'api', store: memoryStore() });
  expect([shared.localKeys, shared.prefix]).toEqual([false, 'api:']);
  await shared.shutdown();
});
