import {
  isStoreUnavailableError,
  type RateLimiter,
  recommendedRedisOptions,
  redisStore,
} from '../../packages/core/src/index.js';
import { storeOnDefaults } from '../support/expecting-warning.js';
import { counted, eventually, LIMIT, OwnRedis, rejection } from './own-redis.js';

const redis = new OwnRedis();

const rejections = (limiter: RateLimiter, calls: number) =>
  Promise.all(Array.from({ length: calls }, () => rejection(limiter.consume('k'))));

test('constructing opens no connection; the first call does', async () => {
  const proxy = await redis.proxy();
  const limiter = redis.limiter(redisStore(proxy.url), '5s');
  await redis.client(proxy.url).ping(); // connections are accepted in order: one opened above would be counted by now
  expect(proxy.connections).toBe(1);
  expect(await limiter.consume('k')).toMatchObject({ allowed: true });
  expect(proxy.connections).toBe(2);
});

test('a dead server: a coded error that names the reason, and recovery without help', async () => {
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

test('calls made while the server is away are not counted when it is back: own client', async () => {
  const limiter = redis.limiter(redisStore(redis.server.url));
  await redis.server.kill();
  expect((await rejections(limiter, 100)).every(isStoreUnavailableError)).toBe(true);
  await redis.server.restart();
  expect(await counted(limiter)).toBe(0);
});

test('calls made while the server is away are not counted when it is back: a client with a queue', async () => {
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

test('a frozen server: an error at the deadline, and each call under way is counted at most once', async () => {
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
])('a lost reply: the call fails, is counted once and is not sent again (%s)', async (_, storeOn) => {
  const proxy = await redis.proxy();
  const limiter = redis.limiter(storeOn(proxy.url), '5s');
  await eventually(() => limiter.consume('warm-up')); // then the lost reply belongs to an EVALSHA that ran
  proxy.resetNextReply();
  expect(isStoreUnavailableError(await rejection(limiter.consume('k')))).toBe(true);
  expect(proxy.lostReplies).toBe(1);
  expect(await counted(limiter)).toBe(1);
});

test('close ends our own client, and leaves a borrowed one', async () => {
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
