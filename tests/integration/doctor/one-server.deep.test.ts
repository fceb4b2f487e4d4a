import { mkdir, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { redisStore } from '../../../packages/core/src/index.js';
import { eventually } from '../../support/eventually.js';
import { freePort } from '../../support/redis/free-port.js';
import { type RedisServer, startRedis } from '../../support/redis/redis-server.js';
import { TcpProxy } from '../../support/redis/tcp-proxy.js';
import { testClient } from '../../support/redis/test-client.js';
import { findingsAt, lineOf, linesOf } from './findings.js';

// Causes each finding about one server on a real one.

let server: RedisServer;
let admin: Redis;
const ask = (command: string, ...args: (string | number)[]) => admin.call(command, ...args);
const set = (name: string, value: string | number) => ask('CONFIG', 'SET', name, value);
const field = async (name: string) =>
  new RegExp(`^${name}:(.*?)\r?$`, 'm').exec(await admin.info('everything'))![1]!;
const MADE = {
  maxmemory: 0,
  'maxmemory-policy': 'noeviction',
  'min-replicas-to-write': 0,
  maxclients: 1_000,
};

beforeAll(async () => {
  server = await startRedis({ args: ['--enable-debug-command', 'yes'] });
  admin = new Redis(server.url);
});
beforeEach(async () => {
  for (const [name, value] of Object.entries(MADE)) await set(name, value);
  await ask('FLUSHALL');
  await ask('CONFIG', 'RESETSTAT');
});
afterAll(async () => {
  admin.disconnect();
  await server.stop();
});

test('reports only notes for a healthy server, and the result of each check', async () => {
  await set('maxmemory', '100mb');
  const store = redisStore(server.url);
  await store.connect();
  await store.close();
  const findings = await findingsAt(server.url);
  expect(findings.map(({ level, id }) => `${level} ${id}`)).toEqual([
    'note append-only-off',
    'note no-replica',
    ...[
      'connection',
      'server',
      'commands',
      'rights',
      'eviction',
      'memory',
      'clock',
      'round-trip',
      'scripts',
    ].map((about) => `ok ${about}`),
    ...['layouts', 'connections', 'failures'].map((about) => `ok ${about}`),
  ]);
  for (const { level, node, why, fix } of findings)
    if (level === 'note')
      expect({ node, why, fix }).toEqual({
        node: `127.0.0.1:${server.port}`,
        why: expect.stringMatching(/\.$/),
        fix: expect.any(String),
      });
});

test('reports an eviction policy, and evicted keys', async () => {
  await set('maxmemory-policy', 'allkeys-lru');
  expect(await linesOf('eviction-policy-unbounded', server.url)).toEqual([
    'note eviction-policy-unbounded: maxmemory-policy is allkeys-lru, and maxmemory is 0',
  ]);
  await set('maxmemory', '100mb');
  expect(await linesOf('eviction-policy', server.url)).toEqual([
    'warning eviction-policy: maxmemory-policy is allkeys-lru',
  ]);
  await ask('SET', 'k', 'v');
  await set('maxmemory', 1);
  await eventually(async () => Number(await field('evicted_keys')) > 0);
  expect(await linesOf('keys-evicted', server.url)).toEqual([
    expect.stringMatching(/^error keys-evicted: The server has evicted \d+ keys?/),
  ]);
  await set('maxmemory-policy', 'noeviction');
  expect(await linesOf('keys-evicted', server.url)).toEqual([
    expect.stringMatching(/^note .* does so no more$/),
  ]);
});

test.each([
  ['note memory-unbounded', 0],
  ['warning memory-low', 0.9],
  ['error memory-low', 0.99],
])('reports %s', async (start, share) => {
  await set('maxmemory', 0);
  // Beside it, the buffers of connections that come and go are little.
  await ask('SET', 'k', 'x'.repeat(20_000_000));
  const used = Number(await field('used_memory'));
  await set('maxmemory', share === 0 ? 0 : Math.round(used / share));
  const [, id] = start.split(' ');
  expect(await linesOf(id!, server.url)).toEqual([expect.stringMatching(start)]);
});

test('reports a slow append-only file, or none', async () => {
  expect(await linesOf('append-only-off', server.url)).toHaveLength(1);
  await set('appendonly', 'yes');
  expect(await linesOf('persistence', server.url)).toEqual([
    'ok persistence: append-only file, appendfsync everysec',
  ]);
  await set('appendfsync', 'always');
  expect(await linesOf('append-only-slow', server.url)).toEqual([
    'warning append-only-slow: appendfsync is always',
  ]);
  await set('appendfsync', 'everysec');
  await set('appendonly', 'no');
});

test('reports that saving to disk failed', async () => {
  const [, folder] = (await ask('CONFIG', 'GET', 'dir')) as string[];
  const inTheWay = join(folder!, 'dump.rdb');
  const saved = async (status: string) => {
    await ask('BGSAVE');
    await eventually(async () => (await field('rdb_last_bgsave_status')) === status);
  };
  await mkdir(inTheWay);
  await saved('err');
  expect(await linesOf('saving-failed', server.url)).toEqual([
    'error saving-failed: Saving to disk has failed: rdb_last_bgsave_status',
  ]);
  await rmdir(inTheWay);
  await saved('ok');
});

test('reports fewer replicas than min-replicas-to-write', async () => {
  await set('min-replicas-to-write', 2);
  expect(await linesOf('min-replicas-unmet', server.url)).toEqual([
    'error min-replicas-unmet: min-replicas-to-write is 2, and 0 are connected',
  ]);
});

test('reports many connections, and refused ones', async () => {
  await set('maxclients', 2); // one is ours
  const findings = (await findingsAt(server.url)).map(lineOf);
  expect(findings).toContain('warning connections-many: 2 of 2 connections');
  // The doctor tries a second one, to see whether it reaches the same server.
  expect(findings).toContain(
    'warning not-examined: topology could not be examined: ERR max number of clients reached',
  );
  await set('maxclients', 100);
  expect(await linesOf('connections-refused', server.url)).toEqual([
    'warning connections-refused: The server has refused 1 connection since its start',
  ]);
});

test('reports counted errors', async () => {
  await set('maxmemory', 1);
  await expect(ask('SET', 'k', 'v')).rejects.toThrow('OOM');
  expect(await linesOf('errors-counted', server.url)).toEqual([
    'note errors-counted: Since its start the server has answered with OOM 1 time',
  ]);
});

test('reports slow scripts', async () => {
  const sha = String(await ask('SCRIPT', 'LOAD', 'for i = 1, 3000000 do end'));
  await ask('EVALSHA', sha, 0);
  expect(await linesOf('scripts-slow', server.url)).toEqual([
    expect.stringMatching(/^warning scripts-slow: A script call takes \d+/),
  ]);
});

test('reports a script that is not cached, and many cached scripts', async () => {
  await ask('SCRIPT', 'FLUSH');
  expect(await linesOf('script-not-cached', server.url)).toHaveLength(1);
  const pipeline = admin.pipeline();
  for (let i = 0; i < 500; i += 1) pipeline.script('LOAD', `return ${i}`);
  await pipeline.exec();
  expect(await linesOf('scripts-many', server.url)).toEqual([
    'warning scripts-many: The server has 500 scripts in its cache',
  ]);
  await ask('SCRIPT', 'FLUSH');
});

test('reports keys of other layouts, and foreign keys', async () => {
  for (const key of [
    'sluice:v1:tb:login:{ann}',
    'sluice:v2:tb:login:{ann}',
    'sluice:v9:x',
    'sluice:session',
    'other',
  ])
    await ask('SET', key, 'x');
  const findings = await findingsAt(server.url);
  expect(findings.map(lineOf).filter((line) => / (?:layout|keys-)/.test(line))).toEqual([
    'warning layout-newer: 1 key of all keys has the layout v9; this version uses v2',
    expect.stringMatching(/^note (?:layout-old: 1 key of all keys has the layout v1;|keys-foreign: 1 key )/),
    expect.stringMatching(/^note (?:layout-old: 1 key of all keys has the layout v1;|keys-foreign: 1 key )/),
    'ok layouts: 1 key of all keys has the layout v2',
  ]);
});

test('reports mixed versions and key prefixes of processes', async () => {
  const store = redisStore(server.url);
  const other = redisStore(server.url);
  const text = (version: string, keyPrefix: string) => {
    const numbers = { policies: {}, several: false, prefixes: {}, suffix: '' };
    const limiter = { kind: 'limiter', name: 'login', keyPrefix, ...numbers };
    return JSON.stringify({ version, layout: 'v2', host: 'a', pid: 1, limiters: [limiter], omitted: 0 });
  };
  await Promise.all([store.connect(), other.connect()]);
  await store.fleet.publish('definitions', text('0.1.0', 'sluice'), 60_000);
  expect(await linesOf('processes', server.url)).toEqual([
    'ok processes: 1 process has published its limiters, version 0.1.0',
  ]);
  await other.fleet.publish('definitions', text('0.2.0', 'shop'), 60_000);
  await Promise.all([store.close(), other.close()]);
  const findings = (await findingsAt(server.url)).map(lineOf);
  expect(findings).toContain('note versions-mixed: Processes run the versions 0.1.0 and 0.2.0');
  expect(findings).toContain('note prefix-other: There are limiters with the keyPrefix shop');
});

test('reports rules that some processes do not run', async () => {
  const stores = [redisStore(server.url), redisStore(server.url)];
  const publish = (i: number, version: number, problem?: string) => {
    const rules = [{ name: 'rules', source: 'limits.yaml', version, fingerprint: `f${version}`, problem }];
    const text = { version: '0.1.0', layout: 'v2', host: 'a', pid: i, limiters: [], omitted: 0, rules };
    return stores[i]!.fleet.publish('definitions', JSON.stringify(text), 60_000);
  };
  await Promise.all(stores.map((store) => store.connect()));
  await publish(0, 41);
  await publish(1, 41);
  expect(await linesOf('rules', server.url)).toEqual([
    "ok rules: 2 processes run the rules 'rules', version 41",
  ]);
  await publish(1, 42);
  expect((await findingsAt(server.url)).map(lineOf)).toContain(
    "note rules-mixed: Processes run different texts of the rules 'rules': versions 41 and 42",
  );
  await publish(0, 42, 'limits.yaml:1:1: no');
  expect((await findingsAt(server.url)).map(lineOf)).toContain(
    "warning rules-refused: 1 of 2 processes with the rules 'rules' cannot load the latest version; a:0: limits.yaml:1:1: no",
  );
  await Promise.all(stores.map((store) => store.close()));
});

test('scans a sample of many keys, and all keys with `scan`', async () => {
  await ask('DEBUG', 'POPULATE', 60_000, 'sluice:v2:tb:many', 1);
  await ask('CONFIG', 'RESETSTAT');
  expect(await linesOf('layouts', server.url)).toEqual([expect.stringMatching(/of the first 20000 or so/)]);
  expect(await field('cmdstat_scan')).toMatch(/^calls=20,/);
  expect(await linesOf('layouts', server.url, { scan: true })).toEqual([
    'ok layouts: 60000 keys of all keys have the layout v2',
  ]);
});

test('reports a database that it cannot select', async () => {
  expect(await linesOf('database', `${server.url}/3`)).toEqual(['ok database: database 3']);
  expect(await linesOf('database-refused', `${server.url}/99`)).toEqual([
    expect.stringMatching(/^error database-refused: .* refuses SELECT 99: ERR DB index is out of range/),
  ]);
});

test('reports an unreachable server, a wrong password and an unknown user', async () => {
  const port = await freePort();
  expect(await linesOf('unreachable', `redis://127.0.0.1:${port}`)).toEqual([
    expect.stringMatching(/^error unreachable: .* does not answer: .*ECONNREFUSED/),
  ]);
  const address = `redis://ann:secret@127.0.0.1:${server.port}`;
  const findings = await findingsAt(address);
  expect(findings.map(lineOf)).toEqual([expect.stringMatching(/^error wrong-password: .*WRONGPASS/)]);
  expect(JSON.stringify(findings)).not.toContain('secret');
  expect(await linesOf('user-unknown', server.url, { user: 'ann' })).toEqual([
    "error user-unknown: There is no user 'ann'",
  ]);
});

test.each([
  ['no answer to INFO within 1000 ms', { timeout: 1_000 }],
  ['the time is over', { timeout: 60_000, total: 50 }],
])('reports a server that does not answer: %s', async (reason, options) => {
  const proxy = await TcpProxy.start(server.port);
  proxy.blackhole();
  const lines = await linesOf('unreachable', proxy.url, options).finally(() => proxy.close());
  expect(lines).toEqual([expect.stringMatching(`^error unreachable: .* does not answer: ${reason}$`)]);
});

test('reports a server that is busy with a script', async () => {
  await set('busy-reply-threshold', 1);
  const busy = testClient(server.url);
  const killed = busy.call('EVAL', 'while true do end', 0).catch((error: Error) => error.message);
  await eventually(async () => /BUSY/.test(String(await ask('GET', 'k').catch(String))));
  const lines = await linesOf('unreachable', server.url);
  await ask('SCRIPT', 'KILL');
  expect(await killed).toMatch(/killed/i);
  busy.disconnect();
  expect(lines).toEqual([expect.stringMatching(/^error unreachable: .* does not answer: BUSY/)]);
});

test('reports round trips that are longer than the deadline', async () => {
  const proxy = await TcpProxy.start(server.port);
  proxy.delay(30);
  const lines = await linesOf('round-trip-slow', proxy.url, { deadline: 20 }).finally(() => proxy.close());
  expect(lines).toEqual([
    expect.stringMatching(
      /^error round-trip-slow: p50 \d+ ms, p99 \d+ ms over \d+ calls; the deadline is 20 ms$/,
    ),
  ]);
  await proxy.close();
});

test('reports a server that is not the given kind', async () => {
  const cluster = [{ host: '127.0.0.1', port: server.port }];
  expect(await linesOf('not-a-cluster', { cluster })).toEqual([
    expect.stringMatching(/^error not-a-cluster: .* is not part of a cluster$/),
  ]);
});
