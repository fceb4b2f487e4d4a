import {
  fixedWindow,
  RateLimiter,
  type RedisStore,
  recommendedRedisOptions,
  redisStore,
  SharedLimiter,
} from '../../../packages/core/src/index.js';
import { TcpProxy } from '../../support/redis/tcp-proxy.js';
import { testClient } from '../../support/redis/test-client.js';
import { redisUrl, uniqueName } from '../../support/redis-url.js';
import { rejection } from '../../support/rejection.js';
import { rethrow } from '../../support/rethrow.js';

// A store that closes answers the calls that it has, and no others.

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function started(): Promise<TcpProxy> {
  const proxy = await TcpProxy.start(redisUrl());
  closers.push(() => proxy.close());
  return proxy;
}

function limiterOn(store: RedisStore, deadline = '10s'): RateLimiter {
  closers.push(() => store.close());
  const policy = fixedWindow({ limit: 10, window: '1h' });
  return new RateLimiter({ name: uniqueName('closing'), policy, store, deadline, failurePolicy: rethrow });
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

const STORES: [string, (url: string) => RedisStore][] = [
  ['with a connection of its own', (url) => redisStore(url)],
  [
    'on a client of the program',
    (url) => {
      const client = testClient(url, recommendedRedisOptions);
      closers.push(() => client.disconnect());
      return redisStore(client);
    },
  ],
];

test.each(STORES)(
  'close answers calls that are sent, and calls of the same turn (%s)',
  async (_, storeOn) => {
    const proxy = await started();
    const store = storeOn(proxy.url);
    const limiter = limiterOn(store);
    const shared = new SharedLimiter({ name: uniqueName('closing'), store, deadline: '10s' });
    const first = await limiter.consume('k', { cost: 3 });
    proxy.delay(60);
    const sent = limiter.consume('k');
    await turn();
    await turn();
    const ofThisTurn = [
      limiter.refund(first),
      shared.setRate({ rate: 1, interval: '1m', keepAliveTime: '1m' }),
      limiter.consume('k'),
    ];
    await store.close();
    expect(await sent).toMatchObject({ source: 'redis', remaining: 6 });
    expect((await Promise.all(ofThisTurn))[2]).toMatchObject({ source: 'redis', remaining: 8 });
    expect(await rejection(limiter.consume('k'))).toMatchObject({ reason: 'closed', neverSent: true });
  },
);

test('close answers the first call of a store', async () => {
  const store = redisStore(redisUrl());
  const decision = limiterOn(store).consume('k');
  await store.close();
  expect(await decision).toMatchObject({ source: 'redis', remaining: 9 });
});

test.each(STORES)('calls that come while a store closes are refused (%s)', async (_, storeOn) => {
  const proxy = await started();
  const store = storeOn(proxy.url);
  const limiter = limiterOn(store);
  const shared = new SharedLimiter({ name: uniqueName('closing'), store, deadline: '10s' });
  await limiter.consume('k');
  proxy.blackhole();
  const sent = limiter.consume('k');
  let closed = false;
  const closing = store.close().then(() => {
    closed = true;
  });
  await turn();
  await turn();
  const refused = { reason: 'closed', neverSent: true };
  expect(await rejection(limiter.consume('k'))).toMatchObject(refused);
  expect(await rejection(shared.setRate({ rate: 1, interval: '1h' }))).toMatchObject(refused);
  expect(closed).toBe(false);
  proxy.pass();
  await closing;
  expect(await sent).toMatchObject({ remaining: 8 });
});

test.each(STORES)('close waits for a silent server as long as its calls do (%s)', async (_, storeOn) => {
  const proxy = await started();
  const store = storeOn(proxy.url);
  const limiter = limiterOn(store, '300ms');
  await limiter.consume('k');
  proxy.blackhole();
  const begun = performance.now();
  const failed = rejection(limiter.consume('k'));
  await store.close();
  const ms = performance.now() - begun;
  expect(await failed).toMatchObject({ reason: 'timeout', neverSent: false });
  expect(ms).toBeGreaterThan(250);
  expect(ms).toBeLessThan(4_900); // not until it ends calls itself, after 5 s
});

test('close ends calls with a longer deadline after 5 s', async () => {
  const proxy = await started();
  const store = redisStore(proxy.url);
  const limiter = limiterOn(store, '1h');
  await limiter.consume('k');
  proxy.blackhole();
  const begun = performance.now();
  const failed = rejection(limiter.consume('k'));
  await store.close();
  expect(performance.now() - begun).toBeGreaterThan(4_900);
  expect(await failed).toMatchObject({ reason: 'closed', neverSent: false });
});
