import { Cluster, type Redis } from 'ioredis';
import { type RedisStore, redisStore } from '../../../packages/core/src/index.js';
import { storedRules } from '../../../packages/rules/src/index.js';
import { eventually } from '../../support/eventually.js';
import { type RedisCluster, startRedisCluster } from '../../support/redis/redis-cluster.js';
import { type RedisServer, startRedis } from '../../support/redis/redis-server.js';
import { testClient } from '../../support/redis/test-client.js';
import { Services } from './services.js';

// Rules change while three processes, whose clocks differ by a day, answer requests through Express.

const KEY = 'sluice:v2:rules:{rules}';
const text = (version: number, limit: number): string => `
version: ${version}
rules:
  - { name: api, match: { path: /* }, key: '#{headers.x-user}', limit: { fixedWindow: { limit: ${limit}, window: 1h } } }
  - { name: extra${version}, match: { path: /extra }, limit: { gcra: { limit: 5, period: 1m } } }
`;
const statuses = (counts: ReadonlyMap<number, number>) => [...counts.keys()].sort();

const failures = (counts: ReadonlyMap<number, number>) =>
  statuses(counts).filter((status) => status !== 200 && status !== 429);

describe('one server', () => {
  let server: RedisServer;
  let admin: Redis;
  let store: RedisStore;
  let services: Services | undefined;

  beforeEach(async () => {
    server = await startRedis();
    admin = testClient(server.url);
    store = redisStore(server.url);
    await storedRules(store).push(text(1, 50));
  });
  afterEach(async () => {
    await services?.stop();
    services = undefined;
    await store.close();
    admin.disconnect();
    await server.stop();
  });

  test('under load every process loads a pushed version at its message, without failed requests or lost counts', async () => {
    services = await Services.start({ redis: server.url, every: '1h' }); // so they load versions only at messages
    const load = services.load('ann');
    // An allowed request may have its answer later than a denied one.
    await eventually(async () => load.counts.has(429) && load.counts.get(200)! >= 50);
    expect(load.counts.get(200)).toBe(50);
    for (const version of [2, 3, 4, 5]) {
      await storedRules(store).push(text(version, 50 + version * 10));
      await services.run(version);
    }
    await eventually(async () => load.counts.get(200) === 100);
    const denied = load.counts.get(429)!;
    await eventually(async () => load.counts.get(429)! > denied + 50);
    await load.stop();
    expect(statuses(load.counts)).toEqual([200, 429]);
    expect(load.counts.get(200)).toBe(100);
  });

  test('processes load a version at the next read after a lost message, or at the reconnection', async () => {
    services = await Services.start({ redis: server.url, every: '1h' });
    const load = services.load('ann');
    await eventually(async () => ((await admin.pubsub('NUMSUB', KEY)) as unknown[])[1] === 3);
    // Pushed while no process has its subscription.
    const push = storedRules(store).push(text(2, 60));
    await admin.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
    await push;
    await services.run(2);
    await load.stop();
    expect(failures(load.counts)).toEqual([]);
    await services.stop();

    await admin.call('ACL', 'SETUSER', 'deaf', 'on', '>pw', '~*', '+@all', 'resetchannels');
    const url = server.url.replace('redis://', 'redis://deaf:pw@');
    services = await Services.start({ redis: url, every: '500ms' });
    expect((await admin.pubsub('NUMSUB', KEY)) as unknown[]).toEqual([KEY, 0]);
    await storedRules(store).push(text(3, 70));
    await services.run(3);
  });

  test('processes keep the last valid version while Redis restarts, with or without its data', async () => {
    services = await Services.start({ redis: server.url, every: '500ms' });
    const load = services.load('ann');
    await storedRules(store).push(text(2, 60));
    await services.run(2);
    await admin.save();
    await server.restart();
    // Its connection comes back some time after the server.
    const isConnected = () =>
      store.connect!().then(
        () => true,
        () => false,
      );
    await eventually(isConnected);
    await storedRules(store).push(text(3, 70));
    await services.run(3);
    await admin.flushall();
    const learned =
      'rules of redis sluice:v2:rules:{rules}: nothing is there: push rules with sluice push FILE, or pass the name of your document to storedRules';
    await eventually(async () => (await services!.problems()).every((problem) => problem === learned));
    await services.run(3);
    await storedRules(store).push(text(4, 80));
    await services.run(4);
    await eventually(async () => (await services!.problems()).every((problem) => problem === undefined));
    await load.stop();
    expect(failures(load.counts)).toEqual([]);
  });

  test('processes never load an invalid version, and a rollout changes only its share', async () => {
    services = await Services.start({ redis: server.url, every: '500ms' });
    const { id } = await storedRules(store).push(text(2, 60));
    await services.run(2);
    await admin.set(`${KEY}:bad`, 'rules: [');
    await admin.set(KEY, (await admin.get(KEY))!.replace(id, 'bad'));
    await eventually(async () => (await services!.problems()).every((problem) => problem !== undefined));
    await services.run(2);
    await storedRules(store).push(text(3, 1));
    await storedRules(store).push(`${text(4, 2)}rollout: { percent: 50, by: key }`);
    await services.run(4);
    const users = Array.from({ length: 40 }, (_, i) => `user${i}`);
    const allowed = await Promise.all(
      users.map(async (user) => {
        const codes = [];
        for (let i = 0; i < 3; i += 1) codes.push(await services!.request(user, i));
        return codes.filter((code) => code === 200).length;
      }),
    );
    // All processes agree on each user: otherwise the second answer would depend on the process.
    expect(new Set(allowed)).toEqual(new Set([1, 2]));
  });
});

describe('a cluster', () => {
  let cluster: RedisCluster;
  let store: RedisStore;
  let services: Services | undefined;

  beforeAll(async () => {
    cluster = await startRedisCluster();
    store = redisStore({ cluster: cluster.addresses });
  });
  afterAll(async () => {
    await services?.stop();
    await store.close();
    await cluster.stop();
  });

  test('every process loads a pushed version at its message', async () => {
    const keyed = (version: number, limit: number) => `${text(version, limit)}hashTag: api\n`;
    await storedRules(store).push(keyed(1, 20));
    services = await Services.start({ cluster: cluster.addresses, every: '1h' });
    const load = services.load('ann');
    await eventually(async () => load.counts.get(200) === 20);
    for (const version of [2, 3]) {
      await storedRules(store).push(keyed(version, 20 + version * 10));
      await services.run(version);
    }
    await eventually(async () => load.counts.get(200) === 50);
    await load.stop();
    expect(statuses(load.counts)).toEqual([200, 429]);
    const client = new Cluster([...cluster.addresses] as never);
    expect(await client.exists(KEY)).toBe(1);
    client.disconnect();
  });
});
