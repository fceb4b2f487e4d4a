import { Redis } from 'ioredis';
import { recommendedRedisOptions, redisStore } from '../../../packages/core/src/index.js';
import { type RedisSentinels, startRedisSentinels } from '../../support/redis/redis-sentinel.js';
import { testClient } from '../../support/redis/test-client.js';
import { endure } from '../ordeal.js';
import { eventually } from '../own-redis.js';

let servers: RedisSentinels;
const closers: (() => unknown)[] = [];
beforeEach(async () => {
  servers = await startRedisSentinels();
});
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
  await servers.stop();
});

test('Sentinels replace the master', async () => {
  const client = new Redis({
    ...recommendedRedisOptions,
    sentinels: [...servers.addresses],
    name: servers.name,
    // Not failoverDetector: what it hears while the client is connecting ends that for ever (ioredis 6.0.0).
    retryStrategy: () => 50,
    sentinelRetryStrategy: () => 50,
    disconnectTimeout: 100,
  });
  client.on('error', () => undefined);
  closers.push(() => client.disconnect());
  const store = redisStore(client);
  closers.push(() => store.close());
  const admin = testClient(servers.master.url);
  closers.push(() => admin.disconnect());

  await endure({
    group: 'cluster and failover',
    fault: 'master killed, Sentinels promote its replica',
    reasons: ['connection', 'timeout', 'READONLY'],
    store,
    begin: async () => {
      // What the replica has not heard of is lost; of that another test tells. WAIT waits for what came before on its connection.
      await admin.set('mark', '1');
      await eventually(async () => expect(await admin.wait(1, 100)).toBe(1));
      await servers.master.kill();
    },
    end: () => eventually(async () => expect(await servers.masterPort()).toBe(servers.replica.port)),
  });
});
