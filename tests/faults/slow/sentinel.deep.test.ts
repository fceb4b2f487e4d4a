import { once } from 'node:events';
import { Redis } from 'ioredis';
import {
  fixedWindow,
  RateLimiter,
  type RedisStore,
  recommendedRedisOptions,
  redisStore,
} from '../../../packages/core/src/index.js';
import { type RedisSentinels, startRedisSentinels } from '../../support/redis/redis-sentinel.js';
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
    // Not failoverDetector: what it hears while the client is connecting ends that forever (ioredis 6.0.0).
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

/** What it has not heard of is lost with the master; of that other tests tell. WAIT waits for what came before on its connection. */
async function replicaHasAll(): Promise<void> {
  await admin.set('mark', '1');
  await eventually(async () => expect(await admin.wait(1, 100)).toBe(1));
}
const replicaIsMaster = () =>
  eventually(async () => expect(await servers.masterPort()).toBe(servers.replica.port));

test('the master is killed, and the Sentinels promote its replica', async () => {
  await runOutage({
    ...{ group, fault: 'master killed, Sentinels promote its replica', store },
    reasons: ['connection', 'timeout', 'READONLY'],
    begin: async () => {
      await replicaHasAll();
      await servers.master.kill();
    },
    end: replicaIsMaster,
  });
});

test('a failover by hand: clients that still use the old master admit one limit more at most', async () => {
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
  await replicaIsMaster();
  const meanwhile = await admitted(100);
  // What a Sentinel tells the old master about ten seconds later.
  const handedOver = once(client, 'ready');
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
});
