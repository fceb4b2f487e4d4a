import type { Redis, RedisOptions } from 'ioredis';
import { Redis as Redis5 } from 'ioredis-5';
import { createClient } from 'redis';
import { EVERYONE } from '../../packages/core/src/call/call.js';
import {
  concurrency,
  RateLimiter,
  type RedisClient,
  recommendedRedisOptions,
  redisStore,
} from '../../packages/core/src/index.js';
import { storeOnDefaults } from '../support/expecting-warning.js';
import { eventually, OwnRedis, rejection } from './own-redis.js';

const redis = new OwnRedis();

const nodeRedis = (options: Parameters<typeof createClient>[0] = {}) => {
  const client = createClient({ url: redis.server.url, ...options });
  client.on('error', () => undefined);
  redis.open({ close: () => client.destroy() });
  return client;
};

test.each([
  ['our own client', (url: string) => redisStore(url)],
  [
    'ioredis 5',
    (url: string) => {
      const client = new Redis5(url, { ...recommendedRedisOptions, disconnectTimeout: 0 });
      client.on('error', () => undefined);
      redis.open({ close: () => client.disconnect() });
      return redisStore(client as unknown as RedisClient);
    },
  ],
])(
  'a subscription whose reply is lost is sent again, and then receives messages (%s)',
  async (_, storeOn) => {
    const admin = redis.client();
    const proxy = await redis.proxy();
    const store = redis.open(storeOn(proxy.url));
    await store.listen!('first', () => undefined); // connects
    proxy.resetNextReply();
    // Waiting calls also poll, because a message may have been lost with the connection.
    await new Promise<void>((resolve) => {
      const onMessage = (id: number) => {
        if (id === 7) resolve();
      };
      void store.listen!('k', onMessage).then(() => admin.publish('k', '7'));
    });
    expect(proxy.lostReplies).toBe(1);
  },
);

test('a store that is closed while a subscription begins opens no connection', async () => {
  const client = redis.client();
  const store = storeOnDefaults(client);
  await client.ping();
  const duplicate = jest.spyOn(client, 'duplicate');
  const listening = rejection(store.listen!('k', () => undefined));
  await store.close();
  expect(await listening).toMatchObject({ code: 'SLUICE_STORE_UNAVAILABLE', reason: 'closed' });
  expect(duplicate).not.toHaveBeenCalled();
});

test('close ends the wait of a call for a held permit, however long its lease is', async () => {
  const store = redis.open(redisStore(redis.server.url));
  const policy = concurrency({ limit: 1, lease: '1h' });
  const limiter = new RateLimiter({ name: 'jobs', policy, store, deadline: '10s' });
  await limiter.acquire('job');
  const waiting = rejection(limiter.acquire('job'));
  const admin = redis.client();
  await eventually(async () => expect(await admin.pubsub('CHANNELS')).toHaveLength(1));
  await new Promise((resolve) => setTimeout(resolve, 300)); // it listens, and polls no more
  await store.close();
  expect(await waiting).toMatchObject({ code: 'SLUICE_STORE_UNAVAILABLE', reason: 'closed' });
});

test('a subscriber that ioredis has given up connects again, and wakes all that listen', async () => {
  const client = redis.client();
  await client.ping();
  const duplicate = jest.spyOn(client, 'duplicate');
  const heard: number[] = [];
  await redis.open(storeOnDefaults(client)).listen!('k', (id) => heard.push(id));
  const subscriber: Redis = duplicate.mock.results[0]!.value;
  subscriber.disconnect(); // as after a failover during a connection attempt: no attempt follows
  await eventually(async () => expect(heard).toEqual([EVERYONE, EVERYONE])); // when it was lost, and when it was back
  expect(await client.publish('k', '7')).toBe(1);
  await eventually(async () => expect(heard).toContain(7));
});

test('a subscriber connects again when its client did: its own connection may be dead without notice', async () => {
  const admin = redis.client();
  const [proxy, beside] = [await redis.proxy(), await redis.proxy()];
  const client = redis.client(proxy.url);
  client.duplicate = ((options: RedisOptions) => redis.client(beside.url, options)) as Redis['duplicate'];
  const heard: number[] = [];
  await redis.open(storeOnDefaults(client)).listen!('k', (id) => heard.push(id));
  await client.ping();
  proxy.disconnectAll();
  await eventually(async () => expect(beside.connections).toBe(2));
  await eventually(async () => {
    await admin.publish('k', '7');
    expect(heard).toContain(7);
  });
});

test('a follower of denials learns that its connection ended, however soon it is open again', async () => {
  const admin = redis.client();
  const store = redis.open(redisStore(redis.server.url));
  const heard: string[] = [];
  const stop = store.fleet.follow({
    received: () => undefined,
    lost: ({ reason }) => heard.push(reason),
    resumed: () => heard.push('resumed'),
  });
  await eventually(async () => expect(await admin.pubsub('CHANNELS')).toHaveLength(1));
  await admin.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
  await eventually(async () => expect(heard).toEqual(['connection', 'resumed']));
  stop();
});

test('a subscription that a busy server refuses is sent again, without an unhandled rejection', async () => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => unhandled.push(reason);
  process.on('unhandledRejection', note);
  const admin = redis.client();
  const proxy = await redis.proxy();
  const store = redis.open(redisStore(proxy.url));
  let heard = 0;
  await store.listen!('k', (id) => {
    if (id === 7) heard += 1;
  });
  await admin.config('SET', 'busy-reply-threshold', '1');
  const spinning = rejection(redis.client().eval('while true do end', 0));
  await eventually(async () => expect(String(await rejection(admin.ping()))).toMatch(/BUSY/));
  const before = proxy.connections;
  proxy.disconnectAll();
  await eventually(async () => expect(proxy.connections).toBeGreaterThan(before));
  await new Promise((resolve) => setTimeout(resolve, 300)); // refused meanwhile
  await admin.call('SCRIPT', 'KILL');
  await spinning;
  await eventually(async () => {
    await admin.publish('k', '7');
    expect(heard).toBeGreaterThan(0);
  });
  process.off('unhandledRejection', note);
  expect(unhandled).toEqual([]);
});

test('a call that listens while node-redis still unsubscribes from the same channel is woken', async () => {
  const admin = redis.client();
  const store = redis.open(redisStore(nodeRedis()));
  const stop = await store.listen!('k', () => undefined);
  const heard: number[] = [];
  stop();
  await store.listen!('k', (id) => heard.push(id));
  await store.listen!('other', () => undefined); // on the same connection: the reply to UNSUBSCRIBE was before
  expect(await admin.publish('k', '7')).toBe(1);
  await eventually(async () => expect(heard).toEqual([7]));
});

test('a message wakes each call once, however often node-redis has connected again', async () => {
  const admin = redis.client();
  const store = redis.open(redisStore(nodeRedis()));
  const heard: number[] = [];
  await store.listen!('k', (id) => heard.push(id));
  for (let lost = 0; lost < 3; lost += 1) {
    await admin.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
    await eventually(async () => expect(await admin.pubsub('NUMSUB', 'k')).toEqual(['k', 1]));
  }
  await admin.publish('k', '7');
  await eventually(async () => expect(heard).toContain(7));
  expect(heard.filter((id) => id === 7)).toHaveLength(1);
});

test('a subscriber that node-redis has given up connects again, and wakes all that listen', async () => {
  const admin = redis.client();
  const store = redis.open(redisStore(nodeRedis({ socket: { reconnectStrategy: false } })));
  const heard: number[] = [];
  await store.listen!('k', (id) => heard.push(id));
  await admin.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
  await eventually(async () => expect(heard).toEqual([EVERYONE, EVERYONE])); // when it was lost, and when it was back
  expect(await admin.publish('k', '7')).toBe(1);
  await eventually(async () => expect(heard).toContain(7));
});

test('a store closes also if its subscriber of node-redis refuses to end again, as in version 5', async () => {
  const client = nodeRedis();
  const duplicate = jest.spyOn(client, 'duplicate');
  const store = redisStore(client);
  await store.listen!('k', () => undefined);
  const subscriber: { destroy(): void } = duplicate.mock.results[0]!.value;
  const destroy = subscriber.destroy.bind(subscriber);
  jest.spyOn(subscriber, 'destroy').mockImplementation(() => {
    destroy();
    throw new Error('The client is closed');
  });
  expect(await rejection(store.close())).toBeUndefined();
});
