import { randomUUID } from 'node:crypto';
import { type LimiterDefinition } from '@sluice/core/internal';
import { readDefinitions } from '@sluice/fleet';
import { Redis } from 'ioredis';
import {
  CombinedLimiter,
  fixedWindow,
  LimiterFactory,
  RateLimiter,
  redisStore,
  SharedLimiter,
} from '../../../packages/core/src/index.js';
import { eventually } from '../../support/eventually.js';
import { type RedisServer, startRedis } from '../../support/redis/redis-server.js';
import { sluice as run } from './sluice.js';

// Limiters whose keys the CLI cannot read, or only with more options.

let server: RedisServer;
let store: ReturnType<typeof redisStore>;
let admin: Redis;
const policy = fixedWindow({ limit: 1, window: '1h' });
const sluice = (...args: string[]) => run(args, { REDIS_URL: server.url });

beforeEach(async () => {
  server = await startRedis();
  store = redisStore(server.url);
  admin = new Redis(server.url);
});
afterEach(async () => {
  await store.close();
  admin.disconnect();
  await server.stop();
});

const published = (names: string[]) =>
  eventually(async () => {
    const known = (await readDefinitions(store)).flatMap(({ limiters }) => limiters.map(({ name }) => name));
    return names.every((name) => known.includes(name));
  });

test('names the other limiters of a factory as not read', async () => {
  const factory = new LimiterFactory({ store, deadline: '10s' });
  for (const tenant of ['tenant-1', 'tenant-2']) await factory.get(tenant, () => policy).consume('ann');
  await published(['tenant-2']);
  await factory.get('tenant-1', () => policy).block('bob', '1h');
  for (const args of [
    ['inspect', 'bob'],
    ['unblock', 'bob'],
    ['reset', 'bob'],
  ]) {
    const { code, stdout } = await sluice(...args);
    expect([code, stdout]).toEqual([
      1,
      expect.stringMatching(/'tenant-[12]' is one of the limiters of a factory: .*--limiter NAME/),
    ]);
  }
  const { code, stdout } = await sluice('inspect', 'bob', '--limiter', 'tenant-1');
  expect([code, stdout]).toEqual([0, expect.stringContaining('Blocked')]);
  expect(stdout).not.toContain('--limiter NAME');
  await factory.close();
});

test('override takes no number of another limiter of a factory', async () => {
  const factory = new LimiterFactory({ store, deadline: '10s' });
  const policies = {
    hourly: fixedWindow({ limit: 5, window: '1h' }),
    daily: fixedWindow({ limit: 50, window: '1d' }),
  };
  for (const [name, own] of Object.entries(policies)) await factory.get(name, () => own).consume('ann');
  await published(['daily']);
  const override = (...numbers: string[]) =>
    sluice('override', 'ann', ...numbers, '--limiter', 'hourly', '--for', '1d', '--yes');
  const guess = await override('limit=9');
  expect([guess.code, guess.stderr]).toEqual([
    2,
    expect.stringMatching(/Name all of them, for example: limit=9\s+window=86400000/),
  ]);
  expect((await override('limit=9', 'window=1h')).code).toBe(0);
  expect((await factory.get('hourly', () => policies.hourly).peek('ann')).remaining).toBe(8);
  await factory.close();
});

test('names a shared rate and a combination as such', async () => {
  const shared = new SharedLimiter({ name: 'mail', store, deadline: '10s' });
  await shared.trySetRate({ rate: 5, interval: '1h' });
  await shared.tryAcquire();
  const login = new RateLimiter({ name: 'login', policy, store, deadline: '10s' });
  const both = new CombinedLimiter({ login }, { name: 'both' });
  await both.consume({ login: 'ann' });
  await published(['mail', 'both']);
  for (const command of ['explain mail ann', 'inspect ann --limiter mail', 'reset ann --limiter mail']) {
    const { code, stderr } = await sluice(...command.split(' '));
    expect([code, stderr]).toEqual([2, expect.stringContaining("'mail' is a shared rate")]);
  }
  for (const command of [
    'explain both ann',
    'inspect ann --limiter both',
    'block ann --limiter both --for 1h',
  ]) {
    const { code, stderr } = await sluice(...command.split(' '));
    expect([code, stderr]).toEqual([2, expect.stringContaining("'both' combines the limiters login,")]);
  }
  const api = new RateLimiter({ name: 'api', policy, store, deadline: '10s' });
  const pair = new CombinedLimiter({ login, api }, { name: 'pair' });
  await pair.consume({ login: 'ann', api: 'ann' });
  await published(['pair']);
  const { stderr } = await sluice('explain', 'pair', 'ann');
  expect(stderr).toContain('Give the one whose key it is: login or api.');
  const { stdout } = await sluice('ls');
  expect(stdout).toMatch(/^pair +together: login \+ api +1$/m);
  expect(stdout).not.toContain('both');
  await Promise.all([shared.close(), both.close(), pair.close(), login.close(), api.close()]);
});

describe('processes of a newer version', () => {
  /** Publishes as a process would. */
  async function publish(definition: Partial<LimiterDefinition>, version = '99.0.0'): Promise<void> {
    const process = randomUUID();
    const key = `sluice:v2:fleet:definitions:{${process}}`;
    const text = { version, layout: 'v2', host: 'h', pid: 1, omitted: 0, limiters: [definition] };
    await admin.set(key, JSON.stringify(text), 'EX', 60);
    await admin.zadd('sluice:v2:fleet:definitions:{index}', Date.now() + 60_000, process);
  }
  const definition = (name: string, more: object) => ({
    kind: 'limiter',
    name,
    keyPrefix: 'sluice',
    several: false,
    policies: { [name]: policy },
    prefixes: { [name]: `sluice:v2:fw:${name}:{` },
    suffix: '}',
    ...more,
  });

  test('get a note about an unknown algorithm, layout or board', async () => {
    const login = new RateLimiter({ name: 'login', policy, store, deadline: '10s' });
    await login.consume('ann');
    await published(['login']);
    await publish(definition('fair', { policies: { fair: { algorithm: 'fairShare', limit: 1 } } }) as never);
    await publish(definition('next', { prefixes: { next: 'sluice:v3:fw:next:{' } }) as never);
    const { code, stdout } = await sluice('inspect', 'ann');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^login {2}/m);
    const update = /made by @sluice\/core 99.0.0, and this is @sluice\/cli \d+\.\d+\.\d+: update the command/;
    for (const name of ['fair', 'next']) {
      const [, of] = `\n${stdout}`.split(`\n${name}\n`);
      expect(of!.split('\n')[0]).toMatch(update);
      for (const command of [`explain ${name} ann`, `reset ann --limiter ${name} --yes`]) {
        const { code: failed, stdout: out, stderr } = await sluice(...command.split(' '));
        expect([failed, out + stderr]).toEqual([2, expect.stringMatching(update)]);
      }
    }
    expect((await sluice('ls')).stdout).toContain('fairShare');
    await admin.set('sluice:v5:fleet:definitions:{index}', 'x', 'EX', 60);
    for (const args of [['ls'], ['inspect', 'ann']])
      expect((await sluice(...args)).stdout).toContain('newer layout v5');
    await login.close();
  });
});

test('explain answers during a deploy for each limit, with the processes that have it', async () => {
  const later = redisStore(server.url);
  for (const [limit, of] of [
    [2, store],
    [1, later],
  ] as const) {
    const limiter = new RateLimiter({
      name: 'api',
      policy: fixedWindow({ limit, window: '1h' }),
      store: of,
      deadline: '10s',
    });
    await limiter.consume('ann');
  }
  await eventually(
    async () =>
      (await readDefinitions(store)).flatMap(({ limiters }) => limiters.filter(({ name }) => name === 'api'))
        .length === 2,
  );
  const { stdout } = await sluice('explain', 'api', 'ann');
  expect(stdout.match(/With the numbers of \S+:\d+:/g)).toHaveLength(2);
  await later.close();
});
