import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readDefinitions } from '@sluice/fleet';
import { loadRules, storedRules } from '@sluice/rules';
import type { Redis } from 'ioredis';
import { connectRedis } from '../../../packages/cli/src/redis-connection.js';
import {
  fixedWindow,
  RateLimiter,
  type RedisStore,
  redisStore,
  type Store,
} from '../../../packages/core/src/index.js';
import { type PostgresStore, postgresStore } from '../../../packages/postgres/src/index.js';
import { type SqliteStore, sqliteStore } from '../../../packages/sqlite/src/index.js';
import { eventually } from '../../support/eventually.js';
import { type PostgresServer, sql, startPostgres } from '../../support/postgres/index.js';
import { freePort } from '../../support/redis/free-port.js';
import { type RedisCluster, startRedisCluster } from '../../support/redis/redis-cluster.js';
import {
  type RedisSentinels,
  SENTINEL_TEST_MS,
  startRedisSentinels,
} from '../../support/redis/redis-sentinel.js';
import { testClient } from '../../support/redis/test-client.js';
import { service } from './fleet-process.js';
import { openLivePage } from './live-page.js';
import { ONCALL_CLUSTER_RULES, ONCALL_RULES } from './oncall-user.js';
import { sluice, start } from './sluice.js';
import { tailing } from './tailing.js';

// The same commands with every kind of store.

const listed = (addresses: readonly { host: string; port: number }[]) =>
  addresses.map(({ host, port }) => `${host}:${port}`).join(',');

/** `sluice watch ann` while a server is out. */
async function watchThrough(at: string[], store: RedisStore, out: () => unknown, back: () => unknown) {
  const policy = fixedWindow({ limit: 1, window: '1h' });
  const limiter = new RateLimiter({ name: 'watched', policy, store, deadline: '10s' });
  await limiter.consume('ann');
  await eventually(async () =>
    (await readDefinitions(store)).some(({ limiters }) => limiters.some(({ name }) => name === 'watched')),
  );
  const child = await start(['watch', 'ann', '--every', '100ms', '--deadline', '500ms', '--json', ...at]);
  let stdout = '';
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  const last = () => JSON.parse(stdout.split('\n').at(-2) || '{}') as Record<string, unknown>;
  try {
    await eventually(async () => last().limiter !== undefined);
    await out();
    await eventually(async () => last().problem !== undefined);
    await back();
    await eventually(async () => last().limiter !== undefined);
  } finally {
    child.kill('SIGINT');
    await new Promise((ended) => child.once('close', ended));
    await limiter.close();
  }
}

function commands(store: () => Store, server: () => string[]): void {
  test('ls, inspect, explain, block, unblock and reset work', async () => {
    const limiters = await service(store());
    const run = (...args: string[]) => sluice([...args, ...server()]);
    try {
      expect((await run('ls', '--json')).values()).toHaveLength(3);
      expect((await run('inspect', 'ann', '--json')).values()).toMatchObject([
        { limiter: 'api' },
        { limiter: 'login' },
      ]);
      expect(await run('explain', 'login', 'ann')).toMatchObject({ code: 1, stderr: '' });
      expect(await run('block', 'eve', '--limiter', 'login', '--for', '1h', '--yes')).toMatchObject({
        code: 0,
        stderr: '',
      });
      expect((await limiters.login.peek('eve')).allowed).toBe(false);
      expect(await run('unblock', 'eve', '--yes')).toMatchObject({ code: 0, stderr: '' });
      expect((await limiters.login.peek('eve')).allowed).toBe(true);
      expect(await run('reset', 'ann', '--yes')).toMatchObject({ code: 0, stderr: '' });
      expect((await limiters.login.peek('ann')).policies.map(({ remaining }) => remaining)).toEqual([5, 50]);
    } finally {
      await Promise.all(Object.values(limiters).map((limiter) => limiter.close()));
    }
  });

  test('sluice alone shows the state', async () => {
    const limiters = await service(store());
    try {
      await store().usage!.publish();
      const state = await sluice(['--json', ...server()]);
      expect(state).toMatchObject({ code: 0, stderr: '' });
      expect(state.values()).toMatchObject([
        {
          counting: [expect.any(String)],
          problems: [],
          limiters: expect.arrayContaining([expect.objectContaining({ limiter: 'login' })]),
        },
      ]);
      expect((await sluice(server())).stdout).toMatch(/answers in [\d.]+ ms\. 1 process on 1 host/);
    } finally {
      await Promise.all(Object.values(limiters).map((limiter) => limiter.close()));
    }
  });

  test('tail shows the denials of processes', async () => {
    const limiters = await service(store());
    const tail = await tailing(['--count', '1', '--json', ...server()]);
    try {
      await tail.until(() => limiters.login.consume('ann'));
      expect([await tail.end(), tail.said.stderr]).toEqual([[0, null], '']);
      expect(JSON.parse(tail.lines()[0]!)).toMatchObject({
        limiter: 'login',
        policy: 'perMinute',
        key: 'ann',
      });
    } finally {
      await Promise.all(Object.values(limiters).map((limiter) => limiter.close()));
    }
  });

  test('dashboard shows limiters, counts, a key and findings, and changes a key', async () => {
    const limiters = await service(store());
    const page = await openLivePage(['--write', ...server()]);
    try {
      await store().usage!.publish();
      const events = await page.until('events', [
        '"name":"login"',
        '"text":"ann"',
        'event: findings\ndata: [',
        'event: health',
      ]);
      expect(events).toContain('"out":[]');
      const denied = await page.until('key', ['event: key'], { limiter: 'login', key: 'ann' });
      expect(denied).toContain('"allowed":false');
      expect(await page.change({ limiter: 'login', key: 'ann', action: 'reset' })).toEqual([
        200,
        expect.stringContaining('Reset. Before: perMinute had 0 left'),
      ]);
      expect((await limiters.login.peek('ann')).allowed).toBe(true);
    } finally {
      expect(await page.stop()).toBe(0);
      await Promise.all(Object.values(limiters).map((limiter) => limiter.close()));
    }
  });
}

/** `push`, `rules` and `rollback` with a store over a database. */
function ruleCommands(store: () => SqliteStore | PostgresStore, at: () => string[], name: string): void {
  test('push, rules and rollback work, and a process follows them', async () => {
    const rules = (version: number) =>
      `version: ${version}\nrules:\n  - { name: api, match: { path: /* }, key: IP, limit: { fixedWindow: { limit: 1, window: 1h } } }\n`;
    expect(await sluice(['push', '-', '--yes', ...at()], {}, rules(1))).toMatchObject({
      code: 0,
      stderr: '',
    });
    const loaded = await loadRules(storedRules(store()), { store: store() });
    try {
      await sluice(['push', '-', '--yes', ...at()], {}, rules(2));
      await eventually(async () => loaded.version === 2);
      expect(await sluice(['rollback', '--yes', ...at()])).toMatchObject({ code: 0, stderr: '' });
      await eventually(async () => loaded.version === 1);
      expect((await sluice(['rules', ...at()])).stdout).toContain(name);
    } finally {
      await loaded.close();
    }
  });
}

describe('a cluster', () => {
  let cluster: RedisCluster;
  let store: RedisStore;
  beforeAll(async () => {
    cluster = await startRedisCluster();
    store = redisStore({ cluster: cluster.addresses, usage: { keys: 'plain' }, denials: true });
  });
  afterAll(async () => {
    await store.close();
    await cluster.stop();
  });

  commands(
    () => store,
    () => ['--cluster', listed(cluster.addresses)],
  );

  test('accepts a user with the rights of docs/cli.md', async () => {
    for (const { ask } of cluster.nodes) {
      await ask('ACL', 'SETUSER', 'reader', 'reset', 'on', '>pw', ...ONCALL_RULES, ...ONCALL_CLUSTER_RULES);
      await ask('ACL', 'LOG', 'RESET');
    }
    // The test's own limiters: definitions of closed limiters expire only after some time.
    const limiters = await service(store);
    try {
      const args = ['inspect', 'ann', '--json', '--cluster', listed(cluster.addresses), '--user', 'reader'];
      const { code, stderr, values } = await sluice(args, { REDIS_PASSWORD: 'pw' });
      expect([code, stderr]).toEqual([0, '']);
      expect(values()).toMatchObject([{ limiter: 'api' }, { limiter: 'login' }]);
    } finally {
      await Promise.all(Object.values(limiters).map((limiter) => limiter.close()));
    }
    for (const { ask } of cluster.nodes) {
      const entries = (await ask('ACL', 'LOG')) as unknown[][];
      const refused = entries.map((entry) => entry[entry.indexOf('object') + 1]);
      expect(refused.filter((object) => object !== 'client|setinfo')).toEqual([]);
    }
  });

  test('continues watch after all nodes were out', async () => {
    const { nodes } = cluster;
    await watchThrough(
      ['--cluster', listed(cluster.addresses)],
      store,
      () => Promise.all(nodes.map((node) => node.kill())),
      () => Promise.all(nodes.map((node) => node.restart())),
    );
  });

  test('rejects the address of one node as a single server, with the remedy', async () => {
    // If the node of the index also has all texts, its answer is complete.
    const slot = Number(await cluster.nodes[0]!.ask('CLUSTER', 'KEYSLOT', 'index'));
    const { url } = cluster.nodes[slot < 16_384 / 3 ? 1 : 0]!;
    const { code, stderr } = await sluice(['ls', '--redis', url], { COLUMNS: '1000' });
    expect([code, stderr]).toEqual([2, expect.stringContaining('Redis Cluster')]);
  });

  test('starts while any one node is out', async () => {
    const slot = Number(await cluster.nodes[0]!.ask('CLUSTER', 'KEYSLOT', 'index'));
    const out = cluster.nodes[slot < 16_384 / 3 ? 1 : 0]!;
    await store.connect();
    const text = ({ fleet }: RedisStore) => `sluice:v2:fleet:definitions:{${fleet.process}}`;
    let publisher = redisStore({ cluster: cluster.addresses });
    while (store.nodeOf(text(publisher)) !== `127.0.0.1:${out.port}`)
      publisher = redisStore({ cluster: cluster.addresses });
    const policy = fixedWindow({ limit: 1, window: '1h' });
    const hidden = new RateLimiter({ name: 'hidden', policy, store: publisher });
    await hidden.consume('ann');
    await readDefinitions(publisher);
    await publisher.close();
    await out.kill();
    try {
      for (let i = 0; i < 8; i += 1) {
        const own = redisStore({ cluster: cluster.addresses });
        // A busy machine may need several attempts of 2 s.
        await eventually(() =>
          own.connect().then(
            () => true,
            () => false,
          ),
        );
        await own.close();
      }
      for (let i = 0; i < 3; i += 1) {
        const { code, stderr } = await sluice(['ls', '--cluster', listed(cluster.addresses)], {
          COLUMNS: '1000',
        });
        expect(code).not.toBe(2);
        expect(stderr).toContain(`${publisher.fleet.process} published is left out: its node is out.`);
      }
    } finally {
      await out.restart();
      for (const { ask } of cluster.nodes)
        await eventually(async () =>
          /cluster_state:ok/.test(String(await ask('CLUSTER', 'INFO').catch(() => ''))),
        );
    }
  });
});

describe('SQLite', () => {
  let folder: string;
  let file: string;
  let store: SqliteStore;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-cli-'));
    file = join(folder, 'limits.db');
    store = sqliteStore({ file, usage: { keys: 'plain' }, denials: true });
  });
  afterAll(async () => {
    await store.close();
    await rm(folder, { recursive: true, force: true });
  });

  const at = () => ['--store', `sqlite:${file}`];
  commands(() => store, at);
  ruleCommands(() => store, at, 'sqlite');

  test('SLUICE_STORE can have the address, and an option overrides it', async () => {
    const env = { SLUICE_STORE: `sqlite:${file}`, COLUMNS: '1000' };
    expect(await sluice(['ls', '--json'], env)).toMatchObject({ code: 0, stderr: '' });
    const { code, stderr } = await sluice(['ls', '--redis', 'redis://127.0.0.1:1'], env);
    expect([code, stderr]).toEqual([2, expect.stringContaining('redis://127.0.0.1:1')]);
  });

  test.each([
    [['ls', '--store', 'sqlite:nowhere.db'], 'There is no file nowhere.db'],
    [
      ['ls', '--store', 'postgres://127.0.0.1/db', '--table', 'a.b.c'],
      '--table takes a name, or schema.name',
    ],
    [['ls', '--store', 'mysql://127.0.0.1'], 'must begin with redis://'],
    [['ls', '--store', 'sqlite:a.db', '--cluster', '127.0.0.1:1'], 'Give one of --store and --cluster'],
  ])('refuses %j', async (args, message) => {
    const { code, stderr } = await sluice(args, { COLUMNS: '1000' });
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  });

  test('doctor says driver, sizes, journal mode and disk, and with --scan whether the file is damaged', async () => {
    await store.connect();
    const args = ['doctor', '--scan', '--limiter-deadline', '1m', ...at()];
    const { code, stdout, stderr } = await sluice(args, { COLUMNS: '1000' });
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^ok file: .*\.db: [\d.]+ [kM]B, by libsql, SQLite 3\.\d+\.\d+$/m);
    expect(stdout).toMatch(/^ok journal: journal mode wal, [\d.]+ [kM]B$/m);
    expect(stdout).toMatch(/^ok content: quick_check found no damage$/m);
    expect(stdout).toMatch(/^(?:ok disk: a disk of this machine, |warning disk-low)/m);
  });

  test('doctor says why a file cannot be used', async () => {
    const foreign = join(folder, 'foreign-doctor.db');
    await writeFile(foreign, 'no database at all, and longer than the header of one'.repeat(20));
    const { code, values } = await sluice(['doctor', '--json', '--store', `sqlite:${foreign}`]);
    expect([code, values()]).toEqual([2, [expect.objectContaining({ id: 'file-refused', level: 'error' })]]);
  });

  test('a file of another program is refused, and stays as it is', async () => {
    const foreign = join(folder, 'foreign.db');
    await writeFile(foreign, 'no database at all, and longer than the header of one'.repeat(20));
    const before = await readFile(foreign);
    const { code, stderr } = await sluice(['ls', '--store', `sqlite:${foreign}`], { COLUMNS: '1000' });
    expect([code, stderr]).toEqual([2, expect.stringContaining('foreign.db')]);
    expect(await readFile(foreign)).toEqual(before);
  });
});

describe('Postgres', () => {
  let postgres: PostgresServer;
  let store: PostgresStore;
  beforeAll(async () => {
    postgres = await startPostgres();
    store = postgresStore({ url: postgres.url, usage: { keys: 'plain' }, denials: true });
  });
  afterAll(async () => {
    await store.close();
    await postgres.stop();
  });

  const at = () => ['--store', postgres.url];
  commands(() => store, at);
  ruleCommands(() => store, at, 'postgres');

  test('the address can be in SLUICE_STORE, and no output has the password', async () => {
    const { password } = new URL(postgres.url);
    const env = { SLUICE_STORE: postgres.url, COLUMNS: '1000' };
    expect(await sluice(['ls', '--json'], env)).toMatchObject({ code: 0, stderr: '' });
    const wrong = { ...env, SLUICE_STORE: postgres.url.replace(password, 'secret') };
    const out = { ...env, SLUICE_STORE: `postgres://postgres:secret@127.0.0.1:${await freePort()}/db` };
    const runs = [
      await sluice(['doctor', '--limiter-deadline', '1m'], env),
      await sluice(['ls'], wrong),
      await sluice(['doctor'], wrong),
      await sluice(['ls'], out),
    ];
    expect(runs.map(({ code }) => code)).toEqual([0, 2, 2, 2]);
    expect(runs[0]!.stdout).toContain('note table-unlogged');
    expect(runs[1]!.stderr).toContain('PGPASSWORD');
    expect(runs[3]!.stderr).toContain('--store');
    for (const { stdout, stderr } of runs) {
      expect(stdout + stderr).not.toContain(password);
      expect(stdout + stderr).not.toContain('secret');
    }
  });

  test('a table in a schema is found by its name, and no command makes one', async () => {
    await sql(postgres.url, 'CREATE SCHEMA limits');
    const { code, stderr } = await sluice(['ls', ...at(), '--table', 'limits.counts'], { COLUMNS: '1000' });
    expect([code, stderr]).toEqual([2, expect.stringContaining('there is no table limits.counts')]);
    const other = postgresStore({ url: postgres.url, schema: 'limits', table: 'counts' });
    await other.connect();
    await other.close();
    expect(await sluice(['ls', ...at(), '--table', 'limits.counts'])).toMatchObject({ stderr: '' });
  });
});

describe('sentinels', () => {
  let sentinels: RedisSentinels;
  let store: RedisStore;
  beforeAll(async () => {
    sentinels = await startRedisSentinels();
    store = redisStore({
      sentinels: sentinels.addresses,
      name: sentinels.name,
      usage: { keys: 'plain' },
      denials: true,
    });
  });
  afterAll(async () => {
    await store.close();
    await sentinels.stop();
  });

  commands(
    () => store,
    () => ['--sentinel', listed(sentinels.addresses), '--name', sentinels.name],
  );

  test(
    'continue watch after a failover',
    async () => {
      const args = ['--sentinel', listed(sentinels.addresses), '--name', sentinels.name];
      await watchThrough(
        args,
        store,
        () => sentinels.master.kill(),
        () => sentinels.replaced(),
      );
    },
    SENTINEL_TEST_MS,
  );

  test('connect again if the sentinels name another primary during a connection attempt', async () => {
    const options = { sentinel: listed(sentinels.addresses), name: sentinels.name };
    const { redis, close } = connectRedis(options, {}, 500, false);
    const client = redis.client as Redis;
    const { connector } = client as unknown as { connector: { disconnect(): void } };
    try {
      await client.connect();
      client.once('connecting', () => connector.disconnect()); // as ioredis does at the message of a sentinel
      const states: string[] = [];
      for (const state of ['end', 'ready']) client.on(state, () => states.push(state));
      client.disconnect(true);
      await eventually(async () => states.length === 2);
      expect(states).toEqual(['end', 'ready']);
    } finally {
      await close();
    }
  });

  test(
    'move tail from a replaced primary that still answers',
    async () => {
      const own = await startRedisSentinels();
      const args = ['--sentinel', listed(own.addresses), '--name', own.name];
      const writer = redisStore({ sentinels: own.addresses, name: own.name, denials: true });
      writer.on('degraded', () => {});
      const limiters = await service(writer);
      const tail = await tailing(args);
      const [sentinel, old] = [
        testClient(`redis://127.0.0.1:${own.addresses[0]!.port}`),
        testClient(own.master.url),
      ];
      const call = () => limiters.login.consume('ann').catch(() => {});
      const denied = () => {
        const before = tail.lines().length;
        return tail.until(call, () => tail.lines().length > before);
      };
      try {
        await denied();
        // The Sentinels cannot make it a replica, which would end its connections.
        await old.call('ACL', 'SETUSER', 'default', '-replicaof', '-slaveof');
        await sentinel.call('SENTINEL', 'FAILOVER', own.name);
        await own.replaced();
        await denied();
        expect(((await old.call('ROLE')) as unknown[])[0]).toBe('master');
      } finally {
        for (const client of [sentinel, old]) client.disconnect();
        await tail.end('SIGINT');
        await Promise.all(Object.values(limiters).map((limiter) => limiter.close()));
        await writer.close();
        await own.stop();
      }
    },
    SENTINEL_TEST_MS,
  );

  test('reject the name of an unknown primary', async () => {
    const args = ['ls', '--sentinel', listed(sentinels.addresses), '--name', 'nobody'];
    const { code, stderr } = await sluice(args, { COLUMNS: '1000' });
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/^sluice: 'nobody' of the sentinels [\s\S]*No such master/),
    ]);
  });
});
