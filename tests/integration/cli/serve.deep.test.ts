import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { eventually } from '../../support/eventually.js';
import { freePort } from '../../support/redis/free-port.js';
import { startRedis } from '../../support/redis/redis-server.js';
import { redisUrl, uniqueName } from '../../support/redis-url.js';
import { descriptor, RlsClient } from '../../support/rls-client.js';
import { sluice, start } from './sluice.js';

const text = (name: string, limit: number) =>
  `name: ${name}\nversion: v${limit}\nrules: [{ name: user, match: { host: shop, path: /user }, key: '#{query.user}', limit: { fixedWindow: { limit: ${limit}, window: 1h } } }]`;

let folder: string;
let file: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-serve-'));
  file = join(folder, 'limits.yaml');
});
afterAll(() => rm(folder, { recursive: true }));

interface Ports {
  readonly port: number;
  readonly grpcPort: number;
  readonly dashboard?: string;
}

/** Runs `sluice serve` on free ports, until `use` ends. @returns what it wrote to stderr */
async function serving(
  args: readonly string[],
  use: (ports: Ports, child: ChildProcessWithoutNullStreams, stderr: () => string) => Promise<void>,
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const child = await start(['serve', '--port', '0', '--grpc-port', '0', '--json', ...args], env);
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const [line] = await Promise.race([once(child.stdout, 'data'), once(child, 'exit').then(() => ['null'])]);
  const ports = JSON.parse(String(line)) as Ports | null;
  if (ports === null) throw new Error(stderr);
  try {
    await use(ports, child, () => stderr);
  } finally {
    child.kill('SIGTERM');
    if (child.exitCode === null) await once(child, 'exit');
  }
  expect(child.exitCode).toBe(0);
  return stderr;
}

const left = async (client: RlsClient) =>
  (await client.shouldRateLimit('shop', [descriptor(['user', 'ann'])])).statuses[0]!.limit_remaining;

/** A decision of the JSON API about the key `ann` of the rule `user`. */
async function consumed(port: number) {
  const response = await fetch(`http://127.0.0.1:${port}/v1/consume`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"rule":"user","key":"ann"}',
  });
  return (await response.json()) as { readonly source: string; readonly degraded: boolean };
}

test.each([
  ['memory', () => 'memory:'],
  ['a file', () => `sqlite:${join(folder, 'limits.db')}`],
  ['Redis', () => redisUrl()],
])('sluice serve follows a file of rules, counts in %s, and ends by SIGTERM', async (_, store) => {
  const name = uniqueName('t');
  await writeFile(file, text(name, 3));
  const args = [file, '--store', store(), '--limiter-deadline', '30s', '--dashboard'];
  await serving(args, async (ports, _child, stderr) => {
    const client = new RlsClient(ports.grpcPort);
    expect(await left(client)).toBe(2);
    await writeFile(file, text(name, 9));
    await eventually(async () => stderr().includes('new rules, version v9'));
    expect(await left(client)).toBe(7);
    await writeFile(file, 'rules: 7');
    await eventually(async () => stderr().includes('the rules stay as they are: '));
    const ready = await fetch(`http://127.0.0.1:${ports.port}/health/ready`);
    expect((await ready.json()) as object).toMatchObject({ ready: true, rules: { version: 'v9' } });
    expect((await fetch(ports.dashboard!, { redirect: 'manual' })).status).toBe(303);
    client.close();
  });
});

test('sluice serve without a file serves the rules that sluice push stored', async () => {
  const name = uniqueName('t');
  await writeFile(file, text(name, 3));
  const store = ['--redis', redisUrl()];
  const missing = await sluice(['serve', '--rules', name, ...store]);
  expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining(name)]);
  expect((await sluice(['push', file, '--yes', ...store])).code).toBe(0);
  await serving(['--rules', name, '--limiter-deadline', '30s', ...store], async (ports) => {
    const client = new RlsClient(ports.grpcPort);
    expect(await left(client)).toBe(2);
    await writeFile(file, text(name, 5));
    expect((await sluice(['push', file, '--yes', ...store])).code).toBe(0);
    await eventually(
      async () =>
        (await client.shouldRateLimit('shop', [descriptor(['user', 'ben'])])).statuses[0]!.current_limit!
          .requests_per_unit === 5,
    );
    client.close();
  });
});

test('sluice serve starts while Redis is out, and counts in it once it is back', async () => {
  const redis = await startRedis();
  await redis.kill();
  await writeFile(file, text('rules', 100));
  await serving([file, '--redis', redis.url], async ({ port }) => {
    expect(await consumed(port)).toMatchObject({ degraded: true });
    await redis.restart();
    await eventually(async () => !(await consumed(port)).degraded);
  });
  await redis.stop();
});

test('sluice serve waits for its store as long as --limiter-deadline says', async () => {
  const redis = await startRedis();
  await writeFile(file, text('rules', 100));
  const args = [file, '--redis', redis.url, '--limiter-deadline'];
  for (const [deadline, source] of [
    ['200ms', 'local'],
    ['30s', 'redis'],
  ] as const) {
    await serving([...args, deadline], async ({ port }) => {
      await eventually(async () => (await consumed(port)).source === 'redis');
      await redis.freeze();
      const decided = consumed(port);
      await sleep(800);
      await redis.thaw();
      expect(await decided).toMatchObject({ source });
    });
  }
  await redis.stop();
  const wrong = await sluice(['serve', file, '--store', 'memory:', '--limiter-deadline', 'soon']);
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringMatching(/--limiter-deadline.*soon/)]);
});

test('sluice serve --otel reports to the SDK of its process', async () => {
  await writeFile(file, text('rules', 100));
  const METRICS_PORT = String(await freePort());
  const sdk = pathToFileURL(join(__dirname, 'otel-sdk.mjs')).href;
  await serving(
    [file, '--store', 'memory:', '--otel'],
    async ({ grpcPort }) => {
      const client = new RlsClient(grpcPort);
      expect(await left(client)).toBe(99);
      const metrics = await (await fetch(`http://127.0.0.1:${METRICS_PORT}/metrics`)).text();
      expect(metrics).toMatch(/^sluice_decisions_total\{.*sluice_limiter="rules".*\} 1/m);
      client.close();
    },
    { NODE_OPTIONS: `--import ${sdk}`, METRICS_PORT },
  );
});

test('sluice serve names a port in use, and a command that only looks refuses the memory', async () => {
  await writeFile(file, text('rules', 3));
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as { port: number };
  const { code, stderr } = await sluice(['serve', file, '--store', 'memory:', '--port', String(port)]);
  expect([code, stderr]).toEqual([2, expect.stringMatching(/EADDRINUSE.*--port and --grpc-port/s)]);
  other.close();
  const looking = await sluice(['ls', '--store', 'memory:']);
  expect([looking.code, looking.stderr]).toEqual([
    2,
    expect.stringContaining('The memory of this command is empty.'),
  ]);
});
