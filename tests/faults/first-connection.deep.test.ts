import { createClient } from 'redis';
import {
  isStoreUnavailableError,
  memoryStore,
  recommendedRedisOptions,
  redisStore,
} from '../../packages/core/src/index.js';
import { eventually, LIMIT, OwnRedis, rejection } from './own-redis.js';

const redis = new OwnRedis();

/** How often the server got an unknown script and had to receive its source. */
async function sentInFull(): Promise<number> {
  const stats = await redis.client().info('commandstats');
  return Number(/cmdstat_eval:calls=(\d+)/.exec(stats)?.[1] ?? 0);
}

function nodeRedis(url = redis.server.url) {
  const client = createClient({ url });
  redis.open({ close: () => client.destroy() });
  return client;
}

describe('the first connection', () => {
  test('may take longer than the deadline, which applies to later calls', async () => {
    const proxy = await redis.proxy();
    proxy.delay(150);
    const limiter = redis.limiter(redisStore(proxy.url), '100ms');
    const burst = await Promise.all(Array.from({ length: 20 }, () => limiter.consume('k')));
    expect(burst.map(({ source }) => source)).toEqual(Array(20).fill('redis'));
    expect(burst.at(-1)!.remaining).toBe(LIMIT - 20);
    proxy.blackhole();
    const late = await rejection(limiter.consume('k'));
    expect(isStoreUnavailableError(late) && late.message).toMatch(/no answer within 100 ms/);
  });

  test('may take longer than the deadline with a client of yours', async () => {
    const proxy = await redis.proxy();
    proxy.delay(150);
    const client = redis.client(proxy.url, { ...recommendedRedisOptions, lazyConnect: true });
    for (const theirs of [client, nodeRedis(proxy.url)])
      expect(await redis.limiter(redisStore(theirs), '100ms').consume('k')).toMatchObject({
        source: 'redis',
      });
  });

  test('ends after two seconds without a reply, and later calls wait only for their deadline', async () => {
    const proxy = await redis.proxy();
    proxy.blackhole();
    const limiter = redis.limiter(redisStore(proxy.url), '100ms');
    const first = await rejection(limiter.consume('k'));
    expect(isStoreUnavailableError(first) && [first.late, first.message]).toEqual([
      true,
      expect.stringMatching(/no answer within 2000 ms/),
    ]);
    const later = await rejection(limiter.consume('k'));
    expect(isStoreUnavailableError(later) && later.message).toMatch(/no answer within 100 ms/);
  });

  test('ends also during store.connect(), and calls wait only for their deadline', async () => {
    const proxy = await redis.proxy();
    proxy.blackhole();
    const store = redis.open(redisStore(proxy.url));
    const limiter = redis.limiter(store, '100ms');
    await rejection(store.connect());
    const first = await rejection(limiter.consume('k'));
    expect(isStoreUnavailableError(first) && first.message).toMatch(/no answer within 100 ms/);
  });
});

describe('store.connect()', () => {
  test('connects and loads the script, so the first call is one round trip', async () => {
    const store = redisStore(redis.server.url);
    const limiter = redis.limiter(store, '5s');
    await Promise.all([store.connect(), store.connect()]);
    await store.connect();
    const before = await sentInFull();
    expect(before).toBe(1);
    expect(await limiter.consume('k')).toMatchObject({ source: 'redis' });
    expect(await sentInFull()).toBe(before);
  });

  test('opens a client of yours that is not open yet', async () => {
    const client = redis.client(redis.server.url, { ...recommendedRedisOptions, lazyConnect: true });
    for (const theirs of [client, nodeRedis()]) {
      const store = redis.open(redisStore(theirs));
      await store.connect();
      await store.connect();
    }
    expect(client.status).toBe('ready');
  });

  test('does nothing in memory', async () => {
    await expect(memoryStore().connect()).resolves.toBeUndefined();
  });

  test('rejects while the server is away, and can be called again', async () => {
    await redis.server.kill();
    const store = redis.open(redisStore(redis.server.url));
    const error = await rejection(store.connect());
    expect(isStoreUnavailableError(error) && [error.reason, error.message]).toEqual([
      'connection',
      expect.stringMatching(/ECONNREFUSED/),
    ]);
    await redis.server.restart();
    await eventually(() => store.connect());
    expect(await redis.limiter(store, '5s').consume('k')).toMatchObject({ source: 'redis' });
  });

  test('rejects when the server does not answer', async () => {
    const proxy = await redis.proxy();
    proxy.blackhole();
    const error = await rejection(redis.open(redisStore(proxy.url)).connect());
    expect(isStoreUnavailableError(error) && [error.late, error.message]).toEqual([
      true,
      expect.stringMatching(/not connected within 2000 ms/),
    ]);
  });

  test('rejects when the store is not set up correctly, or closed', async () => {
    await redis.client().config('SET', 'requirepass', 'right');
    const store = redis.open(redisStore(redis.server.url.replace('redis://', 'redis://:wrong@')));
    const error = await rejection(store.connect());
    expect(isStoreUnavailableError(error) && error.reason).toBe('WRONGPASS');
    await store.close();
    expect(await rejection(store.connect())).toMatchObject({ reason: 'closed' });
  });

  test('rejects when the store is closed while it connects', async () => {
    const proxy = await redis.proxy();
    proxy.blackhole();
    const store = redis.open(redisStore(proxy.url));
    const connecting = rejection(store.connect());
    await store.loading;
    await new Promise(setImmediate);
    await store.close();
    expect(await connecting).toMatchObject({ reason: 'closed' });
  });
});
