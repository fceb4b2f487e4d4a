import { Redis as Redis5 } from 'ioredis-5';
import {
  isSluiceError,
  isStoreConfigurationError,
  type RateLimiter,
  type RedisClient,
  recommendedRedisOptions,
  redisStore,
} from '../../packages/core/src/index.js';
import { eventually, OwnRedis, rejection } from './own-redis.js';

const redis = new OwnRedis();

/** Each call rejects, also after a lost connection, and no other database gets a key. */
async function expectRefusals(limiter: RateLimiter, reason: string, message: RegExp): Promise<void> {
  const admin = redis.client();
  for (let round = 0; round < 3; round += 1) {
    for (let call = 0; call < 5; call += 1) {
      const error = await rejection(limiter.consume('k'));
      expect(isSluiceError(error) ? [Reflect.get(error, 'reason'), error.message] : error).toEqual([
        reason,
        expect.stringMatching(message),
      ]);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
  }
  expect(await admin.dbsize()).toBe(0);
}

const borrowed = (url: string) => redis.client(url, recommendedRedisOptions);
function borrowed5(url: string): RedisClient {
  const client = new Redis5(url, recommendedRedisOptions as object);
  client.on('error', () => undefined);
  redis.open({ close: () => client.disconnect() });
  return client as unknown as RedisClient;
}

test.each([
  ['in an address', (url: string) => redisStore(`${url}/99`)],
  ['of options', (url: string) => redisStore({ url, options: { db: 99 } })],
  ['of an ioredis 6 client', (url: string) => redisStore(borrowed(`${url}/99`))],
  ['of an ioredis 5 client', (url: string) => redisStore(borrowed5(`${url}/99`))],
])('calls to a database that does not exist keep rejecting: %s', async (_what, open) => {
  const limiter = redis.limiter(open(redis.server.url), '5s');
  await expectRefusals(limiter, 'other', /no such database.*DB index is out of range/);
});

test('calls to a forbidden database reject until the user gets the right', async () => {
  const admin = redis.client();
  await admin.call('ACL', 'SETUSER', 'guest', 'on', '>secret', '~*', '&*', '+@all', '-select');
  const url = `redis://guest:secret@127.0.0.1:${redis.server.port}/2`;
  const limiter = redis.limiter(redisStore({ url, definitions: false }), '5s');
  await expectRefusals(limiter, 'NOPERM', /select/);
  await admin.call('ACL', 'SETUSER', 'guest', '+select');
  await eventually(() => limiter.consume('k'));
  expect([await admin.dbsize(), await redis.client(`${redis.server.url}/2`).dbsize()]).toEqual([0, 1]);
});

test('connect() rejects for a database that does not exist', async () => {
  const store = redis.open(redisStore(`${redis.server.url}/99`));
  for (let call = 0; call < 3; call += 1)
    expect(isStoreConfigurationError(await rejection(store.connect()))).toBe(true);
});
