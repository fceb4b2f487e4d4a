import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StoredEntries } from '@sluice/entries';
import { storedRules } from '@sluice/rules';
import { Redis } from 'ioredis';
import Libsql from 'libsql';
import { RedisEntries } from '../../../packages/cli/src/copy/redis-entries.js';
import {
  concurrency,
  fixedWindow,
  RateLimiter,
  redisStore,
  SharedLimiter,
  type Store,
  slidingLog,
  tokenBucket,
} from '../../../packages/core/src/index.js';
import { sqliteStore } from '../../../packages/sqlite/src/index.js';
import { eventually } from '../../support/eventually.js';
import { type RedisCluster, startRedisCluster } from '../../support/redis/redis-cluster.js';
import { type RedisServer, startRedis } from '../../support/redis/redis-server.js';
import { TcpProxy } from '../../support/redis/tcp-proxy.js';
import { rethrow } from '../../support/rethrow.js';
import { sluice, start } from './sluice.js';

// `sluice copy` between real stores.

let folder: string;
let server: RedisServer;
let client: Redis;
let files = 0;
const opened: { close(): unknown }[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-copy-'));
  server = await startRedis();
  client = new Redis(server.url);
});
beforeEach(() => client.flushall());
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.close();
});
afterAll(async () => {
  client.disconnect();
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

function newFile(): string {
  files += 1;
  return join(folder, `${files}.db`);
}

function sqlite(file: string) {
  const store = sqliteStore(file);
  opened.push(store);
  return store;
}

function redis() {
  const store = redisStore(server.url);
  opened.push(store);
  return store;
}

/** One limiter of each form that an entry has. */
function limitersOf(store: Store) {
  const common = { store, deadline: '10s', denyCache: false, failurePolicy: rethrow } as const;
  const policies = {
    perMinute: fixedWindow({ limit: 5, window: '1h' }),
    perDay: slidingLog({ limit: 50, window: '1d' }),
  };
  const limiters = {
    login: new RateLimiter({ name: 'login', policies, ...common }),
    api: new RateLimiter({
      name: 'api',
      policy: tokenBucket({ capacity: 10, refill: 1, every: '1h' }),
      ...common,
    }),
    jobs: new RateLimiter({ name: 'jobs', policy: concurrency({ limit: 1, lease: '1h' }), ...common }),
    mails: new RateLimiter({
      name: 'mails',
      policy: tokenBucket({ capacity: 1, refill: 1, every: '10m' }),
      ...common,
    }),
    codes: new RateLimiter({
      name: 'codes',
      policy: fixedWindow({ limit: 1, window: '1h' }),
      escalate: { after: 2, within: '1h', block: ['1h'] },
      ...common,
    }),
  };
  const shared = new SharedLimiter({ name: 'partner', store, deadline: '10s' });
  opened.push(...Object.values(limiters), shared);
  return { ...limiters, shared };
}

type Limiters = ReturnType<typeof limitersOf>;

async function use({ login, api, jobs, mails, codes, shared }: Limiters) {
  for (let i = 0; i < 6; i += 1) await login.consume('ann');
  await api.consume('ann', { cost: 3 });
  await api.block('bob', '1h');
  await api.override('eve', tokenBucket({ capacity: 99, refill: 1, every: '1h' }), { expiresIn: '1h' });
  await api.consume('eve', { cost: 50 });
  await jobs.acquire('carl');
  for (let i = 0; i < 3; i += 1) void mails.acquire('dan', { timeout: '1h' }).catch(() => {}); // two wait
  await eventually(async () => (await mails.peek('dan')).retryAfter > 20 * 60_000);
  for (let i = 0; i < 4; i += 1) await codes.consume('fay');
  await shared.setRate({ rate: 7, interval: '1h' });
  await shared.tryAcquire(3);
}

/** What a caller sees: without times, which go on. */
async function seen({ login, api, jobs, mails, codes, shared }: Limiters) {
  const stateOf = async (limiter: RateLimiter, key: string) => {
    const { allowed, policies } = await limiter.peek(key);
    return [allowed, policies.map(({ remaining }) => remaining)];
  };
  return {
    login: await stateOf(login, 'ann'),
    api: [await stateOf(api, 'ann'), await stateOf(api, 'bob'), await stateOf(api, 'eve')],
    jobs: await stateOf(jobs, 'carl'),
    mails: await stateOf(mails, 'dan'),
    codes: await stateOf(codes, 'fay'),
    shared: [await shared.availablePermits(), await shared.getConfig()],
  };
}

/** Bytes and time left, in seconds, by key; without the notice board. */
async function entriesOf(entries: StoredEntries) {
  const all = new Map<string, { bytes: string; left: number }>();
  for await (const page of entries.pages('sluice:v2:'))
    for (const { key, entry, left } of page)
      if (!key.includes(':fleet:')) all.set(key, { bytes: entry.toString('hex'), left: left / 1_000_000 });
  return all;
}

const copy = async (...args: string[]) => {
  const ran = await sluice(['copy', ...args, '--yes', '--json', '--deadline', '30s']);
  return { code: ran.code, stderr: ran.stderr, value: ran.values()[0] as Record<string, unknown> };
};

const RULES = (limit: number) =>
  `rules:\n  - { name: api, match: { path: /* }, key: IP, limit: { fixedWindow: { limit: ${limit}, window: 1h } } }\n`;

test('a file goes to Redis and back: bytes, times left, decisions, bookings, holders, shared rates and rules are the same', async () => {
  const [before, after] = [newFile(), newFile()];
  const source = sqlite(before);
  const limiters = limitersOf(source);
  await use(limiters);
  const rules = storedRules(source);
  for (const limit of [1, 2]) await rules.push(RULES(limit), { replaces: limit - 1 });
  const there = await entriesOf(source.entries);
  const looks = await seen(limiters);

  const toRedis = await copy('--from', `sqlite:${before}`, '--to', server.url);
  expect(toRedis).toMatchObject({
    code: 0,
    stderr: '',
    value: { read: there.size, written: there.size },
  });
  expect(await seen(limitersOf(redis()))).toEqual(looks);
  const back = await copy('--from', server.url, '--to', `sqlite:${after}`);
  expect(back).toMatchObject({ code: 0, stderr: '', value: { read: there.size, written: there.size } });

  const target = sqlite(after);
  const here = await entriesOf(target.entries);
  expect([...here.keys()].sort()).toEqual([...there.keys()].sort());
  expect(there.size).toBeGreaterThan(10);
  for (const [key, { bytes, left }] of there) {
    expect([key, here.get(key)!.bytes]).toEqual([key, bytes]);
    if (left === Number.POSITIVE_INFINITY) expect(here.get(key)!.left).toBe(left);
    else expect(Math.abs(here.get(key)!.left - left)).toBeLessThan(600);
  }
  expect(await seen(limitersOf(target))).toEqual(looks);
  expect((await storedRules(target).versions()).map(({ number }) => number)).toEqual([2, 1]);
  expect(await storedRules(target).text(1)).toBe(RULES(1));
}, 120_000);

test('entries of the other store stay, and --overwrite replaces them', async () => {
  const [one, other] = [newFile(), newFile()];
  const from = limitersOf(sqlite(one));
  const to = limitersOf(sqlite(other));
  await from.api.consume('ann', { cost: 3 });
  await from.api.consume('bob', { cost: 3 });
  await to.api.consume('ann', { cost: 8 });
  const args = ['--from', `sqlite:${one}`, '--to', `sqlite:${other}`];
  const remaining = async () =>
    Promise.all(['ann', 'bob'].map(async (key) => (await to.api.peek(key)).remaining));

  expect(await copy(...args, '--dry-run')).toMatchObject({
    code: 0,
    value: { read: 2, written: 1, dryRun: true },
  });
  expect(await remaining()).toEqual([2, 10]);
  expect(await copy(...args)).toMatchObject({ code: 0, value: { read: 2, written: 1 } });
  expect(await remaining()).toEqual([2, 7]);
  expect(await copy(...args, '--overwrite')).toMatchObject({ code: 0, value: { written: 2 } });
  expect(await remaining()).toEqual([7, 7]);
});

test('the rules of the other store stay whole: its versions and their texts', async () => {
  const [one, other] = [sqlite(newFile()), sqlite(newFile())];
  for (const limit of [1, 2]) await storedRules(one).push(RULES(limit), { replaces: limit - 1 });
  await storedRules(other).push(RULES(9), { replaces: 0 });
  const args = ['--from', `sqlite:${one.file}`, '--to', `sqlite:${other.file}`];
  expect(await copy(...args)).toMatchObject({ code: 0, value: { read: 3, written: 0 } });
  expect(await storedRules(other).text(1)).toBe(RULES(9));
  expect((await entriesOf(other.entries)).size).toBe(2);
  expect(await copy(...args, '--overwrite')).toMatchObject({ code: 0, value: { written: 3 } });
  expect(await storedRules(other).text(2)).toBe(RULES(2));
});

test('--limiter carries the keys of one limiter, and --prefix those of another keyPrefix', async () => {
  const file = newFile();
  const store = sqlite(file);
  const limiters = limitersOf(store);
  await use(limiters);
  const shop = new RateLimiter({
    name: 'api',
    keyPrefix: 'shop',
    policy: fixedWindow({ limit: 1, window: '1h' }),
    store,
    deadline: '10s',
  });
  opened.push(shop);
  await shop.consume('ann');
  const keysAt = async () => (await client.keys('*')).sort();
  await copy('--from', `sqlite:${file}`, '--to', server.url, '--limiter', 'login');
  expect(await keysAt()).toEqual(['sluice:v2:fw:login|perMinute:{ann}', 'sluice:v2:sl:login|perDay:{ann}']);
  await client.flushall();
  await copy('--from', `sqlite:${file}`, '--to', server.url, '--limiter', 'partner');
  expect(await keysAt()).toEqual(['sluice:v2:shared:{partner}:all', 'sluice:v2:shared:{partner}:rate']);
  await client.flushall();
  await copy('--from', `sqlite:${file}`, '--to', server.url, '--prefix', 'shop');
  expect(await keysAt()).toEqual(['shop:v2:fw:api:{ann}']);
  expect(await copy('--from', `sqlite:${file}`, '--to', server.url, '--prefix', 'none')).toMatchObject({
    code: 1,
    value: { read: 0 },
  });
});

test('a cluster gives and takes entries, with the keyPrefix of its clients', async () => {
  const cluster: RedisCluster = await startRedisCluster();
  try {
    const file = newFile();
    const source = sqlite(file);
    const { login } = limitersOf(source);
    for (let i = 0; i < 50; i += 1) await login.consume(i);
    const nodes = cluster.addresses.map(({ host, port }) => `${host}:${port}`).join(',');
    const at = ['--cluster', nodes, '--client-prefix', 'app:'];
    expect(await copy('--from', `sqlite:${file}`, ...at)).toMatchObject({ code: 0, value: { written: 100 } });
    const back = newFile();
    expect(await copy('--to', `sqlite:${back}`, ...at)).toMatchObject({ code: 0, value: { written: 100 } });
    const bytes = async (store: ReturnType<typeof sqlite>) =>
      [...(await entriesOf(store.entries))].map(([key, one]) => [key, one.bytes]);
    expect(await bytes(sqlite(back))).toEqual(await bytes(source));
  } finally {
    await cluster.stop();
  }
}, 60_000);

test('a great many entries are streamed, and an interrupted copy is repeated', async () => {
  const MANY = 200_000;
  const file = newFile();
  const { api } = limitersOf(sqlite(file));
  await api.consume('0');
  const database = new Libsql(file);
  database.exec(
    `INSERT INTO sluice WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${MANY - 1})
     SELECT 'sluice:v2:tb:api:{' || i || '}', entry, expires FROM n, (SELECT * FROM sluice WHERE key LIKE '%{0}')`,
  );
  database.close();
  // A list of all entries does not fit into this memory.
  const env = { NODE_OPTIONS: '--max-old-space-size=48' };
  const into = (url: string) => {
    const stores = ['--from', `sqlite:${file}`, '--to', url];
    return ['copy', ...stores, '--yes', '--json', '--deadline', '30s'];
  };
  // The entries pass through this process: while it stands still, the command cannot reach its end before it is interrupted.
  const proxy = await TcpProxy.start(server.url);
  opened.push(proxy);
  const child = await start(into(proxy.url), env);
  let stdout = '';
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr.once('data', () => child.kill('SIGINT'));
  const [code] = await once(child, 'close');
  const first = JSON.parse(stdout) as { read: number; written: number; complete: boolean };
  expect([code, first.complete]).toEqual([2, false]);
  expect(first.written).toBeGreaterThanOrEqual(100_000);
  expect(first.written).toBeLessThan(MANY);
  const again = await sluice(into(server.url), env);
  expect(again.code).toBe(0);
  expect(again.values()).toMatchObject([{ read: MANY, written: MANY - first.written, complete: true }]);
  expect(await client.dbsize()).toBe(MANY);
}, 120_000);

test('a dry run makes no file', async () => {
  const [file, missing] = [newFile(), newFile()];
  await limitersOf(sqlite(file)).api.consume('ann');
  const args = ['copy', '--from', `sqlite:${file}`, '--to', `sqlite:${missing}`, '--dry-run'];
  const { code, stdout } = await sluice(args);
  expect([code, stdout]).toEqual([
    0,
    expect.stringMatching(/no file yet.*\n1 entry, 1 kB: 1 would be written\.\n/),
  ]);
  expect(existsSync(missing)).toBe(false);
});

test.each([
  [[], 'Say from where and to where'],
  [['--from', 'sqlite:nowhere.db', '--to', 'redis://127.0.0.1:1'], 'There is no file nowhere.db'],
  [['--from', 'mysql://127.0.0.1', '--to', 'redis://127.0.0.1:1'], 'must begin with redis://'],
  [['--to', 'redis://127.0.0.1:1/3', '--redis', 'redis://127.0.0.1:1/3'], 'does not answer'],
])('refuses %j', async (args, message) => {
  const { code, stderr } = await sluice(['copy', ...args, '--yes'], { COLUMNS: '1000' });
  expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
});

test('names the store that does not answer, and needs a confirmation before it writes', async () => {
  const file = newFile();
  await limitersOf(sqlite(file)).api.consume('ann');
  const out = await sluice(['copy', '--from', `sqlite:${file}`, '--to', 'redis://127.0.0.1:1', '--yes']);
  expect([out.code, out.stderr]).toEqual([2, expect.stringContaining('redis://127.0.0.1:1 does not answer')]);
  const unconfirmed = await sluice(['copy', '--from', `sqlite:${file}`, '--to', server.url]);
  expect([unconfirmed.code, unconfirmed.stderr]).toEqual([2, expect.stringContaining('Add --yes')]);
  expect(await client.dbsize()).toBe(0);
});

test('entries of Redis that are no texts are left out', async () => {
  const entries = new RedisEntries(client);
  await client.set('sluice:v2:fw:api:{ann}', 'x');
  await client.hset('sluice:v2:fw:api:{odd}', 'a', '1');
  expect([...(await entriesOf(entries)).keys()]).toEqual(['sluice:v2:fw:api:{ann}']);
});
