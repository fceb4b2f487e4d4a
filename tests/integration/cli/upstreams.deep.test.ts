import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readDefinitions, readPauses } from '@sluice/fleet';
import { postgresStore } from '@sluice/postgres';
import { sqliteStore } from '@sluice/sqlite';
import { redisStore, type Store } from '../../../packages/core/src/index.js';
import {
  isUpstreamPausedError,
  standardHeaders,
  type Upstream,
  upstream,
} from '../../../packages/outgoing/src/index.js';
import { eventually } from '../../support/eventually.js';
import { startPostgres } from '../../support/postgres/index.js';
import { type RedisServer, startRedis } from '../../support/redis/redis-server.js';
import { rejection } from '../../support/rejection.js';
import { sluice } from './sluice.js';

interface TestStore {
  readonly env: Record<string, string>;
  open(): Store;
  end(): Promise<void>;
}

async function redis(): Promise<TestStore> {
  const server: RedisServer = await startRedis();
  return {
    env: { REDIS_URL: server.url },
    open: () => redisStore(server.url),
    end: async () => void (await server.stop()),
  };
}

async function sqlite(): Promise<TestStore> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-upstreams-'));
  const file = join(folder, 'limits.db');
  return {
    env: { SLUICE_STORE: `sqlite:${file}` },
    open: () => sqliteStore({ file }),
    end: async () => rmSync(folder, { recursive: true }),
  };
}

async function postgres(): Promise<TestStore> {
  const server = await startPostgres();
  return {
    env: { SLUICE_STORE: server.url },
    open: () => postgresStore({ url: server.url }),
    end: async () => void (await server.stop()),
  };
}

/** What the service answers, by path. */
const ANSWERS: Readonly<Record<string, readonly [number, Record<string, string>]>> = {
  '/busy': [429, { 'retry-after': '600' }],
  '/down': [503, { 'retry-after': '300' }],
  '/overloaded': [503, {}],
  '/used-up': [429, { 'x-ratelimit-limit': '10', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '400' }],
};

describe.each<[string, () => Promise<TestStore>]>([
  ['Redis', redis],
  ['SQLite', sqlite],
  ['Postgres', postgres],
])('pauses in %s', (_, begin) => {
  let target: TestStore;
  const stores: Store[] = [];
  const clients: Upstream[] = [];
  const run = (...args: string[]) => sluice(args, target.env);

  /** An upstream as another process has it. */
  function client(name: string): Upstream {
    const store = target.open();
    const one = upstream({
      name,
      origin: 'https://api.example.com',
      store,
      deadline: '10s',
      account: () => 'ann',
      reads: [standardHeaders({ scope: 'account' })],
      retry: false,
      fetch: (async (url: URL) => {
        const [status, headers] = ANSWERS[url.pathname] ?? [200, {}];
        return new Response('{}', { status, headers });
      }) as typeof fetch,
    });
    stores.push(store);
    clients.push(one);
    return one;
  }

  /** Until the board has the reasons of `count` pauses. */
  const published = (count: number) =>
    eventually(async () => {
      const all = (await readPauses(stores[0]!)).flatMap(({ upstreams }) => upstreams);
      const definitions = await readDefinitions(stores[0]!);
      return all.flatMap(({ pauses }) => pauses).length === count && definitions.length > 0;
    });

  beforeEach(async () => {
    target = await begin();
  });
  afterEach(async () => {
    await Promise.all(clients.splice(0).map((one) => one.close()));
    await Promise.all(stores.splice(0).map((store) => store.close()));
    await target.end();
  });

  test('ls, top and explain name the scope, the reason, the response, the process and the time', async () => {
    const github = client('github');
    await github.fetch('/used-up');
    await published(1);
    const who = expect.stringMatching(new RegExp(`:${process.pid}$`));
    const account = {
      upstream: 'github',
      scope: 'account',
      key: 'account:ann',
      kind: 'limit',
      reason: 'HTTP 429',
      status: 429,
      header: 'x-ratelimit-reset',
      stored: true,
      process: who,
    };
    const listed = await run('top', '--paused', '--json');
    expect([listed.code, listed.stderr, listed.values()]).toEqual([
      0,
      '',
      [expect.objectContaining(account)],
    ]);
    const [{ until, since, now }] = listed.values() as [{ until: number; since: number; now: number }];
    expect(until - now).toBeGreaterThan(300e6);
    expect(until - now).toBeLessThanOrEqual(400e6);
    expect(Math.abs(until - since - 400e6)).toBeLessThan(10e6);
    const { stdout } = await run('ls');
    expect(stdout).toMatch(/\n\nUPSTREAM {2}PAUSED {7}UNTIL +WHY\n/);
    expect(stdout).toMatch(
      /^github {4}account:ann {2}[\d:]{8}, in \d min.* {2}limit: HTTP 429 \(429, x-ratelimit-reset\)$/m,
    );
    const explained = await run('explain', 'github');
    expect(explained.code).toBe(1);
    expect(explained.stdout).toMatch(
      /^Paused: upstream 'github' gets no calls of account:ann until [\d:]{8}, in \d min.*\.\n {2}limit: HTTP 429\. \S+:\d+ got status 429, with x-ratelimit-reset at [\d:]{8}\.\n$/,
    );
    expect((await run('explain', 'github', 'account:bob')).stdout).toBe(
      "Not paused: no pause of upstream 'github' is in force for 'account:bob'.\n",
    );
    expect((await run('explain', 'github', 'account:ann:tokens')).code).toBe(1);
  });

  test('resume ends a pause of another process for the whole fleet', async () => {
    const [one, other] = [client('partner'), client('partner')];
    await one.fetch('/down');
    await published(1);
    expect(isUpstreamPausedError(await rejection(other.fetch('/a')))).toBe(true);
    expect(await run('resume', 'partner')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Add --yes if you are sure.'),
    });
    const wrong = await run('resume', 'partner', 'account:ann', '--yes');
    expect([wrong.code, wrong.stdout]).toEqual([
      1,
      "No pause of 'account:ann' of upstream 'partner' is in the store.\nTo end another: sluice resume partner upstream\n",
    ]);
    const resumed = await run('resume', 'partner', '--yes', '--json');
    expect([resumed.code, resumed.values()]).toEqual([
      0,
      [expect.objectContaining({ upstream: 'partner', key: 'upstream', kind: 'overload', done: true })],
    ]);
    // A process may remember a pause for a second without reading it again.
    for (const process of [other, one]) await eventually(async () => (await process.state()).length === 0);
    expect((await other.fetch('/a')).status).toBe(200);
    expect((await one.fetch('/a')).status).toBe(200);
    expect(await run('resume', 'partner', '--yes')).toMatchObject({ code: 1 });
    expect(await run('top', '--paused')).toMatchObject({ code: 1, stdout: 'No upstream is paused.\n' });
  });

  test('explain says that the circuit of a process is open, and names the response', async () => {
    const random = jest.spyOn(Math, 'random').mockReturnValue(0.99);
    const shop = client('shop');
    for (let i = 0; i < 5; i += 1) await shop.fetch('/overloaded');
    // Each call that tries in vain doubles the delay, until it is long enough to be read.
    const explained = await eventually(async () => {
      if ((await shop.state()).length === 0) await shop.fetch('/overloaded');
      const { stdout } = await run('explain', 'shop');
      return stdout.startsWith('Paused') ? stdout : undefined;
    });
    expect(explained).toMatch(/^Paused: upstream 'shop' gets no calls from \S+:\d+ until /);
    expect(explained).toContain('overload: HTTP 503.');
    expect(explained).toContain('The responses state no time, so the circuit of each process pauses that');
    expect((await run('resume', 'shop', '--yes')).code).toBe(1);
    random.mockRestore();
  });

  test('a pause and its reason outlive the process, and an operator can pause and unblock by the name of the upstream', async () => {
    await client('job').fetch('/busy');
    const observer = target.open();
    stores.push(observer);
    await observer.connect!();
    await published(1);
    await clients[0]!.close();
    await stores[0]!.close();
    expect((await run('explain', 'job')).stdout).toContain('429, with retry-after at ');
    expect((await run('unblock', 'account:ann', '--limiter', 'job', '--yes')).code).toBe(0);
    expect((await run('explain', 'job')).code).toBe(0);
    expect((await run('block', 'upstream', '--limiter', 'job', '--for', '1h', '--yes')).code).toBe(0);
    expect((await run('explain', 'job')).stdout).toContain('No process has published why');
    expect((await run('resume', 'job', 'upstream', '--yes')).code).toBe(0);
  });

  test('completion proposes upstreams, and a name that nobody has is an error', async () => {
    await client('stripe').fetch('/busy');
    await published(1);
    const words = async (line: string) => (await run('completion-words', line)).stdout.split('\n');
    expect(await words('sluice resume ')).toEqual(['stripe', '']);
    expect(await words('sluice explain ')).toEqual(expect.arrayContaining(['stripe', 'stripe:pauses']));
    const { code, stderr } = await run('resume', 'strype', '--yes');
    expect([code, stderr]).toEqual([1, expect.stringContaining('Known are: stripe.')]);
    expect(await run('top', '--paused', '--cost')).toMatchObject({ code: 2 });
    expect(await run('explain', 'stripe:pauses')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Which key?'),
    });
  });
});
