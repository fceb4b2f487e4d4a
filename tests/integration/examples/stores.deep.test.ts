import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type PostgresServer, startPostgres } from '../../support/postgres/index.js';
import { programEnv } from '../../support/program-env.js';
import { type RedisServer, startRedis } from '../../support/redis/redis-server.js';

// `STORE=… npm start`, twice: both processes share limits.

const SCRIPT = resolve(__dirname, '../../../scripts/start.mjs');
const running: ChildProcess[] = [];
let folder: string;
let postgres: PostgresServer;
/** Its own: the live page lists the limits of all who use a server. */
let redis: RedisServer;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-stores-'));
  postgres = await startPostgres();
  redis = await startRedis();
}, 120_000);
afterEach(async () => {
  for (const child of running.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
});
afterAll(async () => {
  await postgres?.stop();
  await redis?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** @returns its address, and how it says where limits are kept */
async function demo(env: Record<string, string>): Promise<{ url: string; where: string }> {
  const child = spawn(process.execPath, [SCRIPT, 'starter'], {
    env: { ...programEnv, PORT: '0', DEADLINE: '10s', ...env },
  });
  running.push(child);
  let text = '';
  for (const stream of [child.stdout!, child.stderr!])
    stream.on('data', (chunk) => {
      text += chunk;
    });
  for (;;) {
    const [, url, where] = /(http:\/\/127\.0\.0\.1:\d+), limits (.*)/.exec(text) ?? [];
    if (url !== undefined) return { url, where: where! };
    if (child.exitCode !== null) throw new Error(`it ended: ${text}`);
    await Promise.race([once(child.stdout!, 'data'), once(child, 'exit')]);
  }
}

/** The names of the limits that the live page lists, once there are as many. */
async function listed(url: string, count: number): Promise<string[]> {
  const stop = new AbortController();
  const { body } = await fetch(`${url}/limits/events`, { signal: stop.signal });
  let text = '';
  try {
    for await (const chunk of body!.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      for (const [, data] of text.matchAll(/^event: limiters\ndata: (.*)\n\n/gm)) {
        const names = JSON.parse(data!).map(({ name }: { name: string }) => name);
        if (names.length >= count) return names;
      }
    }
  } finally {
    stop.abort();
  }
  throw new Error(`the stream ended: ${text}`);
}

test.each<[string, () => string, RegExp]>([
  ['a file', () => `sqlite:${join(folder, 'limits.db')}`, /^in the file .*limits\.db/],
  ['Postgres', () => postgres.url, /^in Postgres/],
  ['Redis', () => redis.url, /^in Redis/],
])(
  'two processes share limits in %s',
  async (_, address, where) => {
    const env = { STORE: address() };
    const both = await Promise.all([demo(env), demo(env)]);
    for (const one of both) expect(one.where).toMatch(where);
    expect(await listed(both[0]!.url, 6)).toContain('countLimit:SmsController.sendByCount');
    const phone = `${process.pid}${Math.floor(performance.now())}`;
    const answers = await Promise.all(
      both.map(({ url }) => fetch(`${url}/sms/count?phone=${phone}`, { method: 'POST' })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 429]);
  },
  60_000,
);

test('REDIS_URL still chooses Redis, and STORE overrides it', async () => {
  expect((await demo({ REDIS_URL: redis.url })).where).toMatch(/^in Redis/);
  expect((await demo({ REDIS_URL: redis.url, STORE: 'memory' })).where).toBe('in memory');
}, 60_000);
