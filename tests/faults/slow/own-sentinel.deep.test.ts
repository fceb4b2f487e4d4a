import {
  fixedWindow,
  isStoreConfigurationError,
  RateLimiter,
  type RedisStore,
  redisStore,
} from '../../../packages/core/src/index.js';
import { endConnectionsAtOnce } from '../../support/redis/end-at-once.js';
import {
  type RedisSentinels,
  SENTINEL_TEST_MS,
  startRedisSentinels,
} from '../../support/redis/redis-sentinel.js';
import { testClient } from '../../support/redis/test-client.js';
import { uniqueName } from '../../support/redis-url.js';
import { fromRedis } from '../callers.js';
import { eventually, rejection } from '../own-redis.js';

let servers: RedisSentinels;
const opened: { close(): unknown }[] = [];
beforeEach(async () => {
  servers = await startRedisSentinels();
});
afterEach(async () => {
  for (const thing of opened.splice(0).reverse()) await thing.close();
  await servers.stop();
});

endConnectionsAtOnce();

const limiterOn = (store: RedisStore, deadline = '100ms') =>
  new RateLimiter({
    name: uniqueName('own'),
    policy: fixedWindow({ limit: 1000, window: '1h' }),
    store,
    deadline,
  });

/** Whether the server at this port has the key. */
const exists = (key: string, port: number) => {
  const client = testClient(`redis://127.0.0.1:${port}`);
  return client.exists(key).finally(() => client.disconnect());
};

test.each(['by hand', 'by force'])(
  'the store’s own client follows the sentinels to the next primary: %s',
  async (how) => {
    const store = redisStore({ sentinels: servers.addresses, name: servers.name });
    opened.push(store);
    const limiter = limiterOn(store);
    await fromRedis(() => limiter.consume('before'));
    if (how === 'by force') await servers.master.kill();
    else {
      const sentinel = testClient(`redis://127.0.0.1:${servers.addresses[0]!.port}`);
      await sentinel.call('SENTINEL', 'FAILOVER', servers.name);
      sentinel.disconnect();
    }
    await servers.replaced();
    await eventually(async () => {
      await limiter.consume('after');
      expect(await exists(`sluice:v2:fw:${limiter.name}:{after}`, servers.replica.port)).toBe(1);
    });
    expect(await fromRedis(() => limiter.peek('after'))).toMatchObject({ source: 'redis' });
  },
  SENTINEL_TEST_MS,
);

test('every call rejects with a configuration error if no sentinel knows the name', async () => {
  const store = redisStore({ sentinels: servers.addresses, name: 'nobody' });
  opened.push(store);
  const limiter = limiterOn(store, '10s');
  for (let call = 0; call < 3; call += 1) {
    const error = await rejection(limiter.consume('k'));
    expect(isStoreConfigurationError(error) && error.message).toMatch(/No such master with that name/);
  }
});
