import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { freePort } from '../../support/redis/free-port.js';
import { type RedisServer, startRedis } from '../../support/redis/redis-server.js';
import { run } from '../../support/run.js';
import { EXAMPLES, Example } from './started.js';

const examples = [
  'express-basic',
  'rules-express',
  'fastify-plugin',
  'koa-login-throttle',
  'sms-verification',
  'llm-tokens',
  'chat',
  'observability',
].map((name) => new Example(name));
const named = (name: string): Example => examples.find((example) => example.name === name)!;
let redis: RedisServer;
let bin: string;

beforeAll(async () => {
  redis = await startRedis();
  bin = mkdtempSync(join(tmpdir(), 'sluice-examples-'));
  writeFileSync(
    join(bin, 'curl'),
    `#!/bin/sh\nexec '${process.execPath}' '${join(__dirname, 'curl.mjs')}' "$@"\n`,
  );
  chmodSync(join(bin, 'curl'), 0o755);
}, 120_000);

afterEach(() => Promise.all(examples.map((example) => example.stop())));

afterAll(async () => {
  await Promise.all(examples.map((example) => example.remove()));
  await redis?.stop();
  rmSync(bin, { recursive: true, force: true });
});

const login = (account: string) => ({ method: 'POST', body: JSON.stringify({ account, password: 'x' }) });
const code = (phone: string) => ({ method: 'POST', body: new URLSearchParams({ phone }) });

const chat = (user: string) => ({
  method: 'POST',
  headers: { 'X-User': user, 'Content-Type': 'application/json' },
  body: JSON.stringify({ prompt: 'hello' }),
});

/** The commands of a README, and the output that it shows. */
function shown(name: string): { command: string; output: string }[] {
  const readme = readFileSync(join(EXAMPLES, name, 'README.md'), 'utf8');
  const blocks = [...readme.matchAll(/^```console\n([\s\S]*?)^```$/gm)].map(([, text]) => text!);
  return blocks.flatMap((text) =>
    [...text.matchAll(/^\$ (.*)\n((?:(?!\$ ).*\n)*)/gm)].map(([, command, output]) => ({
      command: command!,
      output: output!,
    })),
  );
}

/** The output without numbers that depend on the time between two commands. */
const timeless = (output: string): string =>
  output
    .replaceAll('\r', '')
    .replace(/(t=|retry-after: |Try again in |retryInSeconds":|"left":)\d+/gi, '$1…')
    .trim();

test.each(
  examples.flatMap((example) =>
    ['one process', 'Redis'].map((where) => [example.name, where, example] as const),
  ),
)(
  '%s answers as its README shows, with its limits in %s',
  async (name, where, example) => {
    if (where === 'Redis') {
      const client = new Redis(redis.url);
      await client.flushall().finally(() => client.disconnect());
    }
    const metrics = String(await freePort());
    const url = await example.start({
      METRICS_PORT: metrics,
      ...(where === 'Redis' ? { REDIS_URL: redis.url } : { FILE: join(bin, `${name}.db`) }),
    });
    const steps = shown(name);
    expect(steps.length).toBeGreaterThan(2);
    for (const { command, output } of steps) {
      const script = command.replaceAll('http://127.0.0.1:3000', url).replaceAll(':9464/', `:${metrics}/`);
      const env = { PATH: `${bin}${delimiter}${process.env.PATH}` };
      const printed = await run('sh', ['-c', script], { env });
      expect({ command, output: timeless(printed.output) }).toEqual({ command, output: timeless(output) });
    }
    expect(await example.stop()).toEqual([0]);
  },
  120_000,
);

test.each(examples.map((example) => [example.name, example] as const))(
  '%s exits with one sentence if it is set up wrongly',
  async (_, example) => {
    expect(await example.ended({ PORT: 'http' })).toEqual({
      code: 1,
      said: 'PORT must be a number from 0 to 65535, not "http"\n',
    });
    const { code, said } = await example.ended({ PORT: '0', REDIS_URL: 'localhost:6379' });
    expect([code, said]).toEqual([
      1,
      expect.stringMatching(/^redisStore takes .* not "localhost:6379".*\n$/),
    ]);
    const { port } = new URL(await example.start());
    const taken = await example.ended({ PORT: port });
    expect([taken.code, taken.said]).toEqual([1, expect.stringMatching(/^listen EADDRINUSE: .*\n$/)]);
  },
  120_000,
);

test('two processes on one Redis send one code to a phone number', async () => {
  const urls = await Promise.all([1, 2].map(() => named('sms-verification').start({ REDIS_URL: redis.url })));
  const body = () => new URLSearchParams({ phone: '+4915198765432' });
  const answers = await Promise.all(
    urls.map((url) => fetch(`${url}/codes`, { method: 'POST', body: body() })),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([202, 429]);
}, 60_000);

test.each<[string, string, RequestInit, number, number]>([
  ['express-basic', '/', {}, 200, 200],
  ['express-basic', '/reports', { method: 'POST' }, 503, 200], // as its failurePolicy says
  ['rules-express', '/api/items', { headers: { 'X-User': 'bob' } }, 200, 200],
  ['fastify-plugin', '/', {}, 200, 200],
  ['koa-login-throttle', '/login', login('ann'), 401, 401],
  ['sms-verification', '/codes', code('+4915198765432'), 202, 202],
  ['llm-tokens', '/chat', chat('ann'), 200, 200],
  ['observability', '/', {}, 200, 200],
])(
  '%s limits by itself without Redis, and in Redis when it is back: %s',
  async (name, path, init, without, within) => {
    const own = await startRedis();
    try {
      const url = await named(name).start({ REDIS_URL: own.url });
      const status = async () => (await fetch(url + path, init)).status;
      await own.kill('SIGKILL');
      expect(await status()).toBe(without);
      await own.restart();
      const client = new Redis(own.url);
      while ((await client.dbsize()) === 0) {
        expect([without, within, 429]).toContain(await status());
        await sleep(50);
      }
      client.disconnect();
    } finally {
      await own.stop();
    }
  },
  60_000,
);

test.each([
  ['express-basic', '/reports', '{}', 200],
  ['fastify-plugin', '/login-links', '{"email":"ann@example.com"}', 202],
  ['koa-login-throttle', '/login', '{"account":"ann","password":"correct horse"}', 200],
  ['sms-verification', '/codes', '{"phone":"+4915198765432"}', 202],
  ['llm-tokens', '/chat', '{"prompt":"hello"}', 200],
])(
  '%s finishes pending requests after SIGTERM',
  async (name, path, body, status) => {
    const example = named(name);
    const url = await example.start();
    const headers = {
      'Content-Type': 'application/json',
      'Content-Length': body.length,
      'X-User': 'ann',
      Expect: '100-continue',
    };
    const pending = request(url + path, { method: 'POST', headers });
    const answered = once(pending, 'response');
    pending.flushHeaders();
    await once(pending, 'continue'); // the server has begun to serve it
    const codes = example.stop();
    while (await fetch(url).then(Boolean, () => false)) await sleep(10); // until the server accepts no connection
    pending.end(body);
    const [response] = await answered;
    expect(response.resume().statusCode).toBe(status);
    expect(await codes).toEqual([0]);
  },
  60_000,
);

test('this list has all examples', () => {
  const list = readFileSync(join(EXAMPLES, 'README.md'), 'utf8');
  const folders = readdirSync(EXAMPLES).filter((name) => existsSync(join(EXAMPLES, name, 'package.json')));
  expect(folders.length).toBeGreaterThanOrEqual(7);
  expect(folders.filter((name) => !list.includes(`](${name})`))).toEqual([]);
});
