import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { build } from 'esbuild';
import { type RedisServer, startRedis } from '../../../tests/support/redis/redis-server.js';
import { routes } from './routes.js';

// The demo as users run it: in its own processes, with real time and its own Redis.
let folder: string;
let redis: RedisServer;
const running: ChildProcess[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-starter-'));
  await Promise.all([
    build({
      entryPoints: [join(__dirname, 'main.ts')],
      outfile: join(folder, 'main.cjs'),
      bundle: true,
      platform: 'node',
      target: 'node20',
      format: 'cjs',
      conditions: ['@sluice/source'],
      logLevel: 'error',
    }),
    startRedis().then((server) => {
      redis = server;
    }),
  ]);
}, 120_000);

afterEach(async () => {
  await Promise.all(running.splice(0).map(stopped));
});

afterAll(async () => {
  await redis?.stop();
  await rm(folder, { recursive: true, force: true });
});

async function stopped(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null) {
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
  return child.exitCode;
}

/** Starts the demo. @returns its output once it listens */
async function start(env: Record<string, string>): Promise<string> {
  const child = launched({ PORT: '0', DEADLINE: '5s', ...env });
  let text = '';
  for await (const chunk of child.stdout!.iterator({ destroyOnReturn: false })) {
    text += chunk;
    if (text.includes('Try these')) return text;
  }
  throw new Error(`the demo ended: ${text}`);
}

function launched(env: Record<string, string>): ChildProcess {
  const { REDIS_URL: _, ...own } = process.env;
  const child = spawn(process.execPath, [join(folder, 'main.cjs')], { env: { ...own, ...env } });
  running.push(child);
  return child;
}

/** The output of a process from now on. */
function lines({ stdout }: ChildProcess): () => string {
  let text = '';
  stdout!.on('data', (chunk) => {
    text += chunk;
  });
  return () => text;
}

/** Each change of the store's state on the live page: whether it is out. */
async function outages(origin: string): Promise<{ next(): Promise<boolean> }> {
  const { body } = await fetch(`${origin}/limits/events`);
  const reader = body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  let last: boolean | undefined;
  return {
    async next() {
      for (;;) {
        const [found, data] = /event: health\ndata: (.*)\n\n/.exec(text) ?? [];
        if (found === undefined) {
          const { value, done } = await reader.read();
          if (done) throw new Error('the stream ended');
          text += value;
          continue;
        }
        text = text.slice(text.indexOf(found) + found.length);
        const isOut = JSON.parse(data!).out.length > 0;
        if (isOut === last) continue;
        last = isOut;
        return isOut;
      }
    },
  };
}

const urlOf = (text: string) => /http:\/\/127\.0\.0\.1:\d+/.exec(text)![0];

async function get(url: string, method = 'GET'): Promise<{ status: number; retryAfter: number }> {
  const response = await fetch(url, { method });
  await response.text();
  return { status: response.status, retryAfter: Number(response.headers.get('Retry-After')) };
}

test('each printed curl line ends with a 429, and passes again after Retry-After', async () => {
  const lines = (await start({})).match(/^ {2}for .*$/gm)!;
  expect(lines).toHaveLength(routes.length);
  await Promise.all(
    lines.map(async (line) => {
      const [, times, post, url] = /^ {2}for i in ([\d ]+); do curl -si(X POST)? '([^']+)'/.exec(line)!;
      const method = post === undefined ? 'GET' : 'POST';
      const answers = [];
      for (const _ of times!.split(' ')) answers.push(await get(url!, method));
      expect(answers[0]!.status).toBe(200);
      const last = answers.at(-1)!;
      expect(last.status).toBe(429);
      if (last.retryAfter > 10) return;
      await sleep(last.retryAfter * 1000);
      expect(await get(url!, method)).toMatchObject({ status: 200 });
    }),
  );
}, 60_000);

test('two processes on one Redis share limits: one request of both passes', async () => {
  const [first, second] = (
    await Promise.all([start({ REDIS_URL: redis.url }), start({ REDIS_URL: redis.url })])
  ).map(urlOf) as [string, string];
  for (const path of ['/sms/count?phone=1', '/sms/rate?phone=1']) {
    const answers = await Promise.all([first, second].map((url) => get(url + path, 'POST')));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 429]);
  }
  const rate = [first, second, first, second].map((url) => get(`${url}/limiter/rate?key=test`));
  const denied = (await Promise.all(rate)).filter(({ status }) => status === 429);
  expect(denied).toHaveLength(3);
  await sleep(denied[0]!.retryAfter * 1000);
  const again = await Promise.all([first, second].map((url) => get(`${url}/limiter/rate?key=test`)));
  expect(again.map(({ status }) => status).sort()).toEqual([200, 429]);
}, 60_000);

test('without Redis each process counts for itself and logs it; afterwards they share counts again', async () => {
  const own = await startRedis();
  try {
    const origin = urlOf(await start({ REDIS_URL: own.url, DEADLINE: '300ms' }));
    const url = `${origin}/sms/count`;
    const page = await outages(origin);
    expect(await page.next()).toBe(false);
    const said = lines(running.at(-1)!);
    expect(await get(`${url}?phone=1`, 'POST')).toMatchObject({ status: 200 });
    await own.kill('SIGKILL');
    for (let phone = 2; !said().includes('Redis is out'); phone += 1) {
      expect(await get(`${url}?phone=${phone}`, 'POST')).toMatchObject({ status: 200 });
      expect(await get(`${url}?phone=${phone}`, 'POST')).toMatchObject({ status: 429 });
    }
    expect(await page.next()).toBe(true);
    await own.restart();
    for (let phone = 1000; !said().includes('Redis decides again'); phone += 1) {
      await sleep(50);
      expect(await get(`${url}?phone=${phone}`, 'POST')).toMatchObject({ status: 200 });
    }
    expect(await page.next()).toBe(false);
  } finally {
    await own.stop();
  }
}, 60_000);

test.each([
  [{ PORT: 'http' }, /PORT must be a number from 0 to 65535, not "http"/],
  [{ REDIS_URL: 'localhost:6379' }, /redisStore takes .* not "localhost:6379"/],
])('exits with one sentence: %j', async (env, message) => {
  const child = launched(env as Record<string, string>);
  let text = '';
  for await (const chunk of child.stderr!) text += chunk;
  expect(text).toMatch(message);
  expect(text.trim()).not.toContain('\n');
  if (child.exitCode === null) await once(child, 'exit');
  expect(child.exitCode).toBe(1);
});

test('exits on SIGTERM', async () => {
  const text = await start({ REDIS_URL: redis.url });
  await get(`${urlOf(text)}/limiter/rate`);
  expect(await stopped(running.at(-1)!)).toBe(0);
});
