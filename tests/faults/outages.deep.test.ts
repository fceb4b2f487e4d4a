import { setTimeout as sleep } from 'node:timers/promises';
import { Cluster, Redis } from 'ioredis';
import { Cluster as Cluster5, Redis as Redis5 } from 'ioredis-5';
import { Redis as Valkey } from 'iovalkey';
import { createClient, createCluster } from 'redis';
import {
  isStoreUnavailableError,
  type RateLimiter,
  recommendedRedisOptions,
  redisStore,
} from '../../packages/core/src/index.js';
import { storeOnDefaults } from '../support/expecting-warning.js';
import { freePort } from '../support/redis/free-port.js';
import { counted, eventually, LIMIT, OwnRedis, rejection } from './own-redis.js';

const redis = new OwnRedis();

const rejections = (limiter: RateLimiter, calls: number) =>
  Promise.all(Array.from({ length: calls }, () => rejection(limiter.consume('k'))));

test('the first call opens the connection, not the constructor', async () => {
  const proxy = await redis.proxy();
  const limiter = redis.limiter(redisStore(proxy.url), '5s');
  await redis.client(proxy.url).ping(); // connections are accepted in order: one opened above would be counted by now
  expect(proxy.connections).toBe(1);
  expect(await limiter.consume('k')).toMatchObject({ allowed: true });
  expect(proxy.connections).toBe(2);
});

test('with a dead server calls reject with a coded reason until it is back', async () => {
  const limiter = redis.limiter(redisStore(redis.server.url));
  await redis.server.kill();
  const error = await rejection(limiter.consume('k'));
  expect(isStoreUnavailableError(error) && error).toMatchObject({
    code: 'SLUICE_STORE_UNAVAILABLE',
    status: 503,
  });
  expect(String(error)).toMatch(/ECONNREFUSED|no answer within 100 ms/);

  await redis.server.restart();
  expect(await eventually(() => limiter.peek('k'))).toMatchObject({ allowed: true, remaining: LIMIT });
});

test('our own client does not send calls later that were made while the server was away', async () => {
  const limiter = redis.limiter(redisStore(redis.server.url));
  await redis.server.kill();
  expect((await rejections(limiter, 100)).every(isStoreUnavailableError)).toBe(true);
  await redis.server.restart();
  expect(await counted(limiter)).toBe(0);
});

test('a client with an offline queue does not send calls later that were made while the server was away', async () => {
  const client = redis.client(redis.server.url, { retryStrategy: () => 20 });
  const limiter = redis.limiter(storeOnDefaults(client));
  await eventually(() => limiter.peek('k'));
  const lost = new Promise((resolve) => client.once('close', resolve));
  await redis.server.kill();
  await lost;
  expect((await rejections(limiter, 100)).every(isStoreUnavailableError)).toBe(true);
  await redis.server.restart();
  expect(await counted(limiter)).toBe(0);
});

test('calls that timed out while the client was connecting are never sent', async () => {
  const proxy = await redis.proxy();
  const limiter = redis.limiter(redisStore(proxy.url));
  proxy.blackhole();
  expect((await rejections(limiter, 100)).every(isStoreUnavailableError)).toBe(true);
  proxy.pass();
  expect(await counted(limiter)).toBe(0);
});

test('with a frozen server a call rejects at the deadline and counts at most once', async () => {
  const limiter = redis.limiter(redisStore(redis.server.url));
  await eventually(() => limiter.peek('k'));
  await redis.server.freeze();
  const error = await rejection(limiter.consume('k'));
  expect(isStoreUnavailableError(error) && error.message).toMatch(/no answer within 100 ms/);
  await redis.server.thaw();
  expect(await counted(limiter)).toBeLessThanOrEqual(1);
});

test.each([
  ['own client', (url: string) => redisStore(url)],
  [
    'borrowed client with the recommended settings',
    (url: string) => redisStore(redis.client(url, recommendedRedisOptions)),
  ],
])('a call whose reply is lost rejects, counts once and is not sent again (%s)', async (_, storeOn) => {
  const proxy = await redis.proxy();
  const limiter = redis.limiter(storeOn(proxy.url), '5s');
  await eventually(() => limiter.consume('warm-up')); // then the lost reply belongs to an EVALSHA that ran
  proxy.resetNextReply();
  expect(isStoreUnavailableError(await rejection(limiter.consume('k')))).toBe(true);
  expect(proxy.lostReplies).toBe(1);
  expect(await counted(limiter)).toBe(1);
});

test('close ends our own client, but not a borrowed one', async () => {
  const client = redis.client();
  const borrowing = storeOnDefaults(client);
  const limiter = redis.limiter(borrowing, '5s');
  await limiter.consume('k');
  await borrowing.close();
  await borrowing.close();
  expect(await client.ping()).toBe('PONG');
  expect(isStoreUnavailableError(await rejection(limiter.consume('k')))).toBe(true);

  const connected = async () => String(await client.client('LIST')).includes('name=sluice');
  const own = redisStore(redis.server.url);
  await redis.limiter(own, '5s').consume('k');
  expect(await connected()).toBe(true);
  await own.close();
  await eventually(async () => {
    if (await connected()) throw new Error('still connected');
  });
});

/** Pause between two refused attempts, ms. */
const PAUSE = 2_000;
const host = '127.0.0.1';
/** ioredis would wait for the end of a connection that never existed. */
const disconnectTimeout = 0;

// A closed client still waits for its next attempt. ioredis then makes it, at a Sentinel, and waits 2 s for the end of the refused connection.
// These timers cannot be cleared, and would keep a worker of Jest from ending.
afterAll(() => sleep(PAUSE + 2_000));

type Borrowed = { on(event: 'error', listener: () => void): unknown };

describe('a refused connection rejects every waiting call, and each later call before the next attempt', () => {
  let refused = 0;
  beforeEach(() => {
    refused = 0;
  });
  const retryStrategy = () => {
    refused += 1;
    return PAUSE;
  };
  const borrowed = <T extends Borrowed>(client: T, close: () => unknown): T => {
    client.on('error', () => undefined);
    redis.open({ close });
    return client;
  };
  const ioredis = <T extends Borrowed & { disconnect(): void }>(client: T) =>
    borrowed(client, () => client.disconnect());
  const nodeRedis = <T extends Borrowed & { isOpen: boolean; destroy(): void }>(client: T) =>
    borrowed(client, () => client.isOpen && client.destroy());
  const settings = { retryStrategy, disconnectTimeout } as object;
  const ofCluster = { clusterRetryStrategy: retryStrategy, redisOptions: { disconnectTimeout } as object };

  test.each<[string, (port: number) => unknown]>([
    ['own client', (port) => ({ url: `redis://${host}:${port}`, options: { retryStrategy } })],
    [
      'own client, sentinels',
      (port) => ({
        ...{ sentinels: [{ host, port }], name: 'main' },
        options: { sentinelRetryStrategy: retryStrategy },
      }),
    ],
    [
      'own client, cluster',
      (port) => ({ cluster: [{ host, port }], options: { clusterRetryStrategy: retryStrategy } }),
    ],
    ['ioredis 6', (port) => ioredis(new Redis(port, host, settings))],
    ['ioredis 5', (port) => ioredis(new Redis5(port, host, settings))],
    ['iovalkey', (port) => ioredis(new Valkey(port, host, settings))],
    ['ioredis 6, cluster', (port) => ioredis(new Cluster([{ host, port }], ofCluster))],
    ['ioredis 5, cluster', (port) => ioredis(new Cluster5([{ host, port }], ofCluster))],
    [
      'node-redis',
      (port) => nodeRedis(createClient({ socket: { host, port, reconnectStrategy: retryStrategy } })),
    ],
    ['node-redis, cluster', (port) => nodeRedis(createCluster({ rootNodes: [{ socket: { host, port } }] }))],
  ])('%s', async (_, clientOf) => {
    const store = storeOnDefaults(clientOf(await freePort()) as never);
    const limiter = redis.limiter(store, '10s');
    const waiting = await rejections(limiter, 20);
    // Too few to open the circuit, which would answer later calls.
    const later = [await rejection(limiter.consume('k')), await rejection(limiter.consume('k'))];
    for (const error of [...waiting, ...later]) {
      expect(isStoreUnavailableError(error) && error).toMatchObject({
        ...{ reason: 'connection', late: false, neverSent: true },
        // For clusters and sentinels ioredis gives no better reason.
        message: expect.stringMatching(/ECONNREFUSED|Connection is closed/),
      });
    }
    expect(refused).toBeLessThanOrEqual(1);
  });
});
