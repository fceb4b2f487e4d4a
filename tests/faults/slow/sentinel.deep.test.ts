import { Redis } from 'ioredis';
import {
  fixedWindow,
  RateLimiter,
  type RedisStore,
  recommendedRedisOptions,
  redisStore,
} from '../../../packages/core/src/index.js';
import {
  type RedisSentinels,
  SENTINEL_TEST_MS,
  startRedisSentinels,
} from '../../support/redis/redis-sentinel.js';
import { testClient } from '../../support/redis/test-client.js';
import { fromRedis } from '../callers.js';
import { runOutage } from '../outage.js';
import { eventually } from '../own-redis.js';
import { record } from '../table.js';

const group = 'cluster and failover';
let servers: RedisSentinels;
let client: Redis;
let store: RedisStore;
let admin: Redis;
beforeEach(async () => {
  servers = await startRedisSentinels();
  client = new Redis({
    ...recommendedRedisOptions,
    sentinels: [...servers.addresses],
    name: servers.name,
    // Not failoverDetector: a message while the client is connecting stops it forever (ioredis 6.0.0).
    retryStrategy: () => 50,
    sentinelRetryStrategy: () => 50,
    disconnectTimeout: 100,
  });
  client.on('error', () => undefined);
  store = redisStore(client);
  admin = testClient(servers.master.url);
});
afterEach(async () => {
  await store.close();
  for (const one of [client, admin]) one.disconnect();
  await servers.stop();
});

/** Waits until the replica has all writes; other tests cover lost ones. WAIT waits for earlier writes of its connection. */
async function replicaHasAll(): Promise<void> {
  await admin.set('mark', '1');
  await eventually(async () => expect(await admin.wait(1, 100)).toBe(1));
}

test(
  'the failure policy decides from the death of a master until the Sentinels promote its replica',
  async () => {
    await runOutage({
      ...{ group, fault: 'master killed, Sentinels promote its replica', store },
      reasons: ['connection', 'timeout', 'READONLY'],
      begin: async () => {
        await replicaHasAll();
        await servers.master.kill();
      },
      end: () => servers.replaced(),
    });
  },
  SENTINEL_TEST_MS,
);

test(
  'after a manual failover clients of the old master admit at most one limit more',
  async () => {
    const limiter = new RateLimiter({
      name: 'handed-over',
      policy: fixedWindow({ limit: 100, window: '1h' }),
      store,
      failurePolicy: 'deny',
      denyCache: false,
      deadline: '5s',
    });
    const admitted = async (most: number) => {
      for (let count = 0; ; count += 1) {
        if (count === most || !(await fromRedis(() => limiter.consume('k'))).allowed) return count;
      }
    };
    const before = await admitted(60);
    await replicaHasAll();
    const sentinel = testClient(`redis://127.0.0.1:${servers.addresses[0]!.port}`);
    await sentinel.call('SENTINEL', 'FAILOVER', servers.name);
    sentinel.disconnect();
    await servers.replaced();
    const meanwhile = await admitted(100);
    // A Sentinel would send this command to the old master about ten seconds later.
    // `once` of node:events would reject: the killed connection may be reset.
    const handedOver = new Promise<void>((resolve) => client.once('ready', resolve));
    await admin.replicaof('127.0.0.1', servers.replica.port);
    await admin.call('CLIENT', 'KILL', 'TYPE', 'normal');
    await handedOver;
    const after = await admitted(200);
    expect(before + meanwhile).toBe(100);
    expect(after).toBeLessThanOrEqual(100);
    record({
      ...{
        group,
        fault: '`SENTINEL FAILOVER` by hand',
        seen: 'nothing: the old master decides for about 10 s',
      },
      counted: `${before + meanwhile} + ${after} admitted of a limit of 100`,
    });
  },
  SENTINEL_TEST_MS,
);
