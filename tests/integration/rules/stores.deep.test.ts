import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import { createClient } from 'redis';
import { type RedisStore, redisStore, type Store } from '../../../packages/core/src/index.js';
import { loadRules, storedRules } from '../../../packages/rules/src/index.js';
import { sqliteStore } from '../../../packages/sqlite/src/index.js';
import { eventually } from '../../support/eventually.js';
import { storeOnDefaults } from '../../support/expecting-warning.js';
import {
  type RedisSentinels,
  SENTINEL_TEST_MS,
  startRedisSentinels,
} from '../../support/redis/redis-sentinel.js';
import { type RedisServer, startRedis } from '../../support/redis/redis-server.js';
import { testClient } from '../../support/redis/test-client.js';
import { sluice } from '../cli/sluice.js';

// Rules in a file, and in Redis with every kind of client: load, change by message and by poll, rollout and rollback.

const KEY = 'sluice:v2:rules:{rules}';
const text = (version: number, limit: number, more = ''): string =>
  `version: ${version}\nrules:\n  - { name: api, match: { path: /* }, key: '#{headers.x-user}', limit: { fixedWindow: { limit: ${limit}, window: 1h } } }\n${more}`;
const request = (user: string) =>
  ({ method: 'GET', path: '/a', headers: { 'x-user': user }, params: {}, query: {} }) as never;

const closers: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of closers.splice(0).reverse()) await one.close();
});
function closing<T extends { close(): unknown }>(one: T): T {
  closers.push(one);
  return one;
}

const load = async (store: Store, every: string) =>
  closing(await loadRules(storedRules(store), { store, every, deadline: '10s' }));
const allowedBy = (rules: Awaited<ReturnType<typeof load>>) => async (user: string) =>
  (await rules.decide(request(user))).allowed;
const listenersOf = async (admin: Redis, prefix: string) =>
  ((await admin.pubsub('NUMSUB', `${prefix}${KEY}`)) as unknown[])[1];

let server: RedisServer;
let admin: Redis;
beforeAll(async () => {
  server = await startRedis();
  admin = testClient(server.url);
});
beforeEach(() => admin.flushall());
afterAll(async () => {
  admin.disconnect();
  await server.stop();
});

const ofIoredis = (prefix: string) => () => {
  const client = testClient(server.url, { keyPrefix: prefix });
  closers.push({ close: () => client.disconnect() });
  return closing(storeOnDefaults(client));
};
const ofNodeRedis = (prefix: string) => () => {
  const client = createClient({ url: server.url, ...(prefix && { keyPrefix: prefix }) });
  client.on('error', () => undefined);
  closers.push({ close: () => client.destroy() });
  void client.connect();
  return closing(redisStore(client));
};

describe.each<[string, (prefix: string) => () => RedisStore, string]>([
  [
    'a store with a keyPrefix',
    (keyPrefix) => () => closing(redisStore({ url: server.url, options: { keyPrefix } })),
    'app:',
  ],
  ['ioredis with a keyPrefix', ofIoredis, 'app:'],
  ['node-redis', ofNodeRedis, ''],
  ['node-redis with a keyPrefix', ofNodeRedis, 'app:'],
])('%s', (_, opener, prefix) => {
  const open = opener(prefix);

  test('a push applies at its message, a rollout only to its share, and a rollback undoes it', async () => {
    const source = storedRules(open());
    await source.push(text(1, 2));
    const rules = await load(open(), '1h'); // so it loads versions only at messages
    const allowed = allowedBy(rules);
    expect([await allowed('ann'), await allowed('ann'), await allowed('ann')]).toEqual([true, true, false]);
    await eventually(async () => (await listenersOf(admin, prefix)) === 1);
    await source.push(text(2, 3));
    await eventually(async () => rules.version === 2);
    expect([await allowed('ann'), await allowed('ann')]).toEqual([true, false]);
    await source.push(text(3, 9, 'rollout: { percent: 0 }'));
    await eventually(async () => rules.version === 3);
    expect(await allowed('ann')).toBe(false);
    await source.rollback();
    await eventually(async () => rules.version === 2);
    const versions = (await source.versions()).map(({ number, rollbackTo }) => [number, rollbackTo]);
    expect(versions).toEqual([[4, 2], [3], [2], [1]].map(([number, to]) => [number, to]));
    expect((await admin.keys('*')).filter((key) => !key.startsWith(prefix))).toEqual([]);
  });

  test('the next read finds a push whose message was lost', async () => {
    const source = storedRules(open());
    await source.push(text(1, 2));
    const first = await admin.get(`${prefix}${KEY}`);
    const rules = await load(open(), '100ms');
    await source.push(text(2, 3));
    await eventually(async () => rules.version === 2);
    await admin.set(`${prefix}${KEY}`, first!); // without a message
    await eventually(async () => rules.version === 1);
  });
});

test('the command reads and pushes the versions of a client with a keyPrefix', async () => {
  const prefix = 'app:';
  const open = ofNodeRedis(prefix);
  const run = (args: string[], input?: string) =>
    sluice([...args, '--client-prefix', prefix], { REDIS_URL: server.url }, input);
  const pushed = await run(['push', '-', '--yes'], text(1, 2));
  expect([pushed.code, pushed.stderr]).toEqual([0, '']);
  const store = open();
  const rules = await load(store, '1h');
  await rules.decide(request('ann'));
  await eventually(async () => (await listenersOf(admin, prefix)) === 1);
  expect((await run(['push', '-', '--yes'], text(2, 3))).code).toBe(0);
  await eventually(async () => rules.version === 2);
  await eventually(async () => new RegExp(`:${process.pid} +2 +redis `).test((await run(['rules'])).stdout));
  const back = await run(['rollback', '--yes']);
  expect([back.code, back.stderr]).toEqual([0, '']);
  await eventually(async () => rules.version === 1);
});

describe('SQLite', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-rules-'));
  afterAll(() => rm(folder, { recursive: true, force: true }));
  const opener = (file: string) => () => closing(sqliteStore(join(folder, file)));

  test('a push applies soon, a rollout only to its share, and a rollback undoes it', async () => {
    const open = opener('pushed.db');
    const source = storedRules(open());
    await source.push(text(1, 2));
    const rules = await load(open(), '1h');
    const allowed = allowedBy(rules);
    expect([await allowed('ann'), await allowed('ann'), await allowed('ann')]).toEqual([true, true, false]);
    await source.push(text(2, 3));
    await eventually(async () => rules.version === 2);
    expect([await allowed('ann'), await allowed('ann')]).toEqual([true, false]);
    await source.push(text(3, 9, 'rollout: { percent: 0 }'));
    await eventually(async () => rules.version === 3);
    expect(await allowed('ann')).toBe(false);
    await source.rollback();
    await eventually(async () => rules.version === 2);
    const versions = (await source.versions()).map(({ number, rollbackTo }) => [number, rollbackTo]);
    expect(versions).toEqual([[4, 2], [3], [2], [1]].map(([number, to]) => [number, to]));
  });

  test('of pushes at once each gets a number of its own, and the ten latest are kept', async () => {
    const open = opener('at-once.db');
    const sources = Array.from({ length: 4 }, () => storedRules(open()));
    const pushed = await Promise.all(
      Array.from({ length: 12 }, (_, i) => sources[i % 4]!.push(text(i, i + 1))),
    );
    const numbers = pushed.map(({ number }) => number).sort((one, other) => one - other);
    expect(numbers).toEqual(Array.from({ length: 12 }, (_, i) => i + 1));
    const kept = (await sources[0]!.kept()).map(({ number }) => number);
    expect(kept).toEqual(numbers.slice(2).reverse());
  });

  test('a push that replaces a version no longer the latest changes nothing', async () => {
    const source = storedRules(opener('replaced.db')());
    await source.push(text(1, 2));
    await source.push(text(2, 2));
    await expect(source.push(text(3, 2), { replaces: 1 })).rejects.toThrow(/version 2|number 2/);
    expect((await source.versions()).map(({ number }) => number)).toEqual([2, 1]);
  });
});

describe('Sentinel', () => {
  let servers: RedisSentinels;
  beforeAll(async () => {
    servers = await startRedisSentinels();
  });
  afterAll(() => servers.stop());
  const open = () => closing(redisStore({ sentinels: servers.addresses, name: servers.name }));

  test(
    'pushes arrive before and after a failover; meanwhile the last valid version decides',
    async () => {
      const addresses = servers.addresses.map(({ host, port }) => `${host}:${port}`).join(',');
      const args = ['--sentinel', addresses, '--name', servers.name];
      const pushed = await sluice(['push', '-', '--yes', ...args], {}, text(1, 2));
      expect([pushed.code, pushed.stderr]).toEqual([0, '']);
      const rules = await load(open(), '1h');
      const source = storedRules(open());
      expect(await allowedBy(rules)('ann')).toBe(true);
      const before = testClient(servers.master.url);
      await eventually(async () => (await listenersOf(before, '')) === 1);
      await source.push(text(2, 3));
      await eventually(async () => rules.version === 2);
      await before.wait(1, 5_000);
      before.disconnect();

      await servers.master.kill();
      expect(rules.version).toBe(2);
      expect(await allowedBy(rules)('bob')).toBe(true);
      await servers.replaced();
      const after = testClient(servers.replica.url);
      await eventually(async () => (await listenersOf(after, '')) === 1);
      after.disconnect();
      // Until the store has found the new primary, its calls reject.
      await eventually(async () => (await source.versions().catch(() => []))[0]?.number === 2);
      await source.push(text(3, 4));
      // A read that began in the outage may first have to end.
      await eventually(async () => rules.version === 3, undefined, 60_000).catch((cause) => {
        throw new Error(`the rules have version ${rules.version}, problem: ${rules.problem}`, { cause });
      });
      expect(rules.problem).toBeUndefined();
    },
    SENTINEL_TEST_MS,
  );
});
