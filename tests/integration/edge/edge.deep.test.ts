import { readFileSync } from 'node:fs';
import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build, transformSync } from 'esbuild';
import { Redis } from 'ioredis';
import { eventually } from '../../support/eventually.js';
import { startRedis } from '../../support/redis/redis-server.js';
import { redisUrl } from '../../support/redis-url.js';
import { UPSTASH_TOKEN, UpstashDouble } from '../../support/upstash.js';
import { Installation } from '../consumers/installation.js';
import { NextProject } from './next.js';
import { startWorker, type Worker } from './workerd.js';

const root = join(__dirname, '../../..');

let installed: Installation;
let double: UpstashDouble;
beforeAll(async () => {
  installed = await Installation.create();
  double = await UpstashDouble.start(redisUrl());
}, 300_000);
afterAll(async () => {
  await double?.stop();
  await installed?.remove();
});

/** Addresses of clients that no other test has. */
let clients = 0;
const newClient = () => {
  clients += 1;
  return `198.51.100.${clients}`;
};
const upstashHeaders = (ip = newClient()) => ({ 'x-upstash': double.url, 'x-ip': ip });

/** @param get requests a path of a worker */
async function sharesLimits(get: (path: string, headers: Record<string, string>) => Promise<Response>) {
  const headers = upstashHeaders();
  const together = await Promise.all(Array.from({ length: 12 }, () => get('/shared', headers)));
  expect(together.map(({ status }) => status).sort()).toEqual([
    ...Array<number>(5).fill(200),
    ...Array<number>(7).fill(429),
  ]);
  double.requests.length = 0;
  const cart = await get('/cart', upstashHeaders());
  expect(await cart.json()).toEqual(Array(10).fill([49, false]));
  // The script is known, so the calls of one request travel together.
  expect(double.requests).toHaveLength(1);
}

/** As wrangler bundles a worker, with the packages as users install them. */
async function workerScript(): Promise<string> {
  const entry = join(installed.folder, 'worker.mjs'); // beside the installed packages, not those of the repository
  await copyFile(join(__dirname, 'worker.mjs'), entry);
  const { outputFiles } = await build({
    entryPoints: [entry],
    nodePaths: [join(__dirname, '../../../node_modules')],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    conditions: ['workerd', 'worker', 'browser'],
    logLevel: 'error',
  });
  return outputFiles[0]!.text;
}

describe.each([
  ['without Node.js', '2025-05-05', []],
  ['of a new compatibility date', '2026-11-01', []],
  ['with nodejs_compat', '2026-01-01', ['nodejs_compat']],
] as const)('a worker %s', (_, date, flags) => {
  let worker: Worker;
  beforeAll(async () => {
    worker = await startWorker(await workerScript(), date, flags);
  }, 300_000);
  afterAll(() => worker?.stop());

  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(`${worker.url}${path}`, { headers });
  const json = async (path: string): Promise<unknown> => (await get(path)).json();

  test('limits the requests of each address', async () => {
    const ip = { 'x-ip': '192.0.2.7' };
    const responses = [];
    for (let i = 0; i < 4; i += 1) responses.push(await get('/limited', ip));
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
    expect(responses[0]!.headers.get('ratelimit')).toMatch(/^"edge";r=2;t=60;pk=:[\w+/]{16}:$/);
    expect(await responses[3]!.json()).toMatchObject({ title: 'Too Many Requests', status: 429 });
    expect((await get('/limited', { 'x-ip': '192.0.2.8' })).status).toBe(200);
    expect(await json('/denials')).toBe(1);
  });

  test('supports address ranges, keys from requests, and pages for browsers', async () => {
    const statuses = async (ips: string[]) =>
      Promise.all(ips.map(async (ip) => (await get('/limited', { 'x-ip': ip })).status));
    expect(await statuses(['203.0.113.9', '2001:db8:7::1', '2001:db9::1'])).toEqual([403, 403, 200]);
    const page = await get('/limited', { 'x-ip': '203.0.113.9', accept: 'text/html' });
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect((await get('/shop')).status).toBe(400);
    expect((await get('/shop', { 'x-shop': '7' })).status).toBe(200);
  });

  test('limits requests of Hono by the address that the runtime names', async () => {
    const ip = { 'cf-connecting-ip': '192.0.2.9' };
    const responses = [];
    for (let i = 0; i < 4; i += 1) responses.push(await get('/hono', ip));
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
    expect(await responses[0]!.json()).toBe(2);
    expect(responses[3]!.headers.get('ratelimit')).toMatch(/^"hono";r=0;t=(?:60|5\d)$/);
    expect((await get('/hono', { 'cf-connecting-ip': '192.0.2.10' })).status).toBe(200);
  });

  test('queues waiting calls of several requests', async () => {
    const paced = await Promise.all([json('/pace'), json('/pace'), json('/pace')]);
    expect(paced).toEqual(Array(3).fill(expect.objectContaining({ allowed: true })));
    expect(await Promise.all([json('/export'), json('/export'), json('/export')])).toEqual(
      Array(3).fill('exported'),
    );
  });

  test('counts in Upstash together, and sends the calls of each request by themselves', async () => {
    await sharesLimits(get);
  });

  test('no request waits for one that was given up, and a store that is out is tried again', async () => {
    const headers = upstashHeaders();
    await get('/cart', headers);
    const hanging: { end(text?: string): unknown }[] = [];
    double.intercept = (_, response) => {
      hanging.push(response);
      return true;
    };
    const gone = new AbortController();
    const cancelled = fetch(`${worker.url}/cart`, { headers, signal: gone.signal }).catch(() => {});
    await eventually(async () => hanging.length > 0);
    gone.abort();
    await cancelled;
    const denied = { allowed: false, degraded: true };
    for (let i = 0; i < 6; i += 1) {
      expect(await (await get('/impatient', headers)).json()).toMatchObject(denied);
    }
    double.intercept = undefined;
    await eventually(async () => {
      const decision = (await (await get('/impatient', headers)).json()) as { allowed: boolean };
      return decision.allowed;
    }, 100);
    expect(await (await get('/cart', upstashHeaders())).json()).toEqual(Array(10).fill([49, false]));
    for (const response of hanging) response.end();
  });

  test('hashes long keys as Node.js does', async () => {
    expect(await json('/long-keys')).toEqual([
      [true, true, true],
      ['#I7fE1C8OA5pJGBki', '#Ud4EWueXGREMbX7g', '#beQUAOa6NjG8DugY'],
      '#_sUlZaoM8Y9X189b',
    ]);
  });

  test('names the functions that do not run there', async () => {
    expect(await json('/redis')).toEqual(
      expect.stringMatching(/^StoreConfigurationError: redisStore works in Node.js only/),
    );
    expect(await json('/wide')).toEqual(
      expect.stringMatching(/^RangeError: .*jsonpath-plus.*Compute the key in a function/),
    );
    expect(worker.output()).toBe('');
  });
});

/** The packages that a Next.js project needs, as they are installed. */
function packagesForNext(): Record<string, string> {
  const own = ['@sluice/core', '@sluice/fetch', '@sluice/hono', '@sluice/http', '@sluice/upstash'];
  const names = [...own, 'ipaddr.js', 'jsonpath-plus', 'negotiator'];
  return {
    ...Object.fromEntries(names.map((name) => [name, join(installed.folder, 'node_modules', name)])),
    'content-type': join(root, 'node_modules/content-type'),
    hono: join(root, 'node_modules/hono'),
  };
}

test('Next.js builds and serves a route for the edge runtime', async () => {
  const worker = await readFile(join(__dirname, 'worker.mjs'), 'utf8');
  const project = await NextProject.create(packagesForNext(), {
    'app/layout.js': 'export default ({ children }) => <html lang="en"><body>{children}</body></html>;\n',
    'app/worker.mjs': worker,
    'app/[route]/route.js':
      "import { handle } from '../worker.mjs';\nexport const runtime = 'edge';\nexport const GET = handle;\n",
    'app/api/edge/route.js': filesOfPage(redisUrl())['app/api/edge/route.js']!,
    '.env': `UPSTASH_REDIS_REST_URL=${double.url}\nUPSTASH_REDIS_REST_TOKEN=${UPSTASH_TOKEN}\n`,
  });
  try {
    const built = await project.build();
    expect(built.output).not.toMatch(/not supported in the Edge Runtime|Module not found/);
    if (!built.ok) throw new Error(built.output);
    const url = await project.start();
    const headers = { 'x-ip': '192.0.2.7' };
    const statuses = [];
    for (let i = 0; i < 4; i += 1) statuses.push((await fetch(`${url}/limited`, { headers })).status);
    expect(statuses).toEqual([200, 200, 200, 429]);
    expect((await fetch(`${url}/limited`, { headers: { 'x-ip': '203.0.113.9' } })).status).toBe(403);
    expect(await (await fetch(`${url}/redis`)).json()).toContain("export const runtime = 'nodejs'");
    await sharesLimits((path, headers) => fetch(`${url}${path}`, { headers }));

    const ip = newClient();
    const ofPage = [];
    for (let i = 0; i < 4; i += 1) {
      const invented = { 'X-Real-IP': newClient(), 'X-Forwarded-For': `${newClient()}, ${ip}` };
      ofPage.push((await fetch(`${url}/api/edge`, { headers: invented })).status);
    }
    expect(ofPage).toEqual([200, 200, 200, 429]);
    // Next.js fills in the address of the connection.
    expect((await fetch(`${url}/api/edge`)).status).toBe(200);
  } finally {
    await project.remove();
  }
}, 900_000);

/** The files of the page, as JavaScript: for TypeScript, Next.js would install the compiler. A busy machine misses no deadline of theirs. */
function filesOfPage(redis: string): Record<string, string> {
  const page = readFileSync(join(root, 'docs/recipes/nextjs.md'), 'utf8');
  const blocks = [...page.matchAll(/^```(?:ts|js) nextjs (\S+)\n([\s\S]*?)^```$/gm)];
  return Object.fromEntries(
    blocks.map(([, path, text]) => [
      path!.replace(/\.ts$/, '.js').replace('next.config', 'own.config'),
      transformSync(
        text!
          .replaceAll('redis://127.0.0.1:6379', redis)
          .replace("deadline: '1s'", "deadline: '30s'")
          .replaceAll(' policy: ', " deadline: '30s', policy: "),
        { loader: 'ts' },
      ).code,
    ]),
  );
}

test('the files of the Next.js page limit requests, and reloads open no connections', async () => {
  const redis = await startRedis();
  const admin = new Redis(redis.url);
  const connections = async () =>
    String(await admin.client('LIST'))
      .trim()
      .split('\n').length - 1;
  const files = filesOfPage(redis.url);
  const project = await NextProject.create(packagesForNext(), {
    ...files,
    'app/layout.js': 'export default ({ children }) => <html lang="en"><body>{children}</body></html>;\n',
  });
  try {
    const url = await project.start('dev');
    const get = (ip: string, invented: Record<string, string> = {}) =>
      fetch(`${url}/api/hello`, { headers: { 'X-Forwarded-For': ip, ...invented } });
    const first = await get('192.0.2.7');
    expect([first.status, await first.text()]).toEqual([200, '{"hello":"world"}']);
    // The headers of the proxy replace those of the route.
    expect(first.headers.get('RateLimit')).toBe('"site";r=4;t=60');
    expect((await get('192.0.2.8')).status).toBe(200);
    const statuses = [];
    for (let i = 2; i <= 6; i += 1) statuses.push((await get('192.0.2.7')).status);
    expect(statuses).toEqual([200, 200, 429, 429, 429]);
    // Headers that the client invents change nothing behind a proxy that appends the address.
    expect((await get('192.0.2.9, 192.0.2.7', { 'X-Real-IP': '192.0.2.9' })).status).toBe(429);

    const before = await connections();
    for (let change = 1; change <= 3; change += 1) {
      const changed = files['app/api/hello/route.js']!.replace('world', `change ${change}`);
      await writeFile(join(project.folder, 'app/api/hello/route.js'), changed);
      await writeFile(
        join(project.folder, 'lib/limits.js'),
        `${files['lib/limits.js']}// change ${change}\n`,
      );
      let looks = 0;
      await eventually(
        async () => {
          looks += 1; // an address of its own for each look, because the limit is five
          return (await (await get(`198.51.${100 + change}.${looks}`)).text()).includes(`change ${change}`);
        },
        300,
        120_000,
      );
    }
    expect([await connections(), project.output()]).toEqual([
      before,
      expect.not.stringContaining('SluiceWarning'),
    ]);
  } finally {
    await project.remove();
    admin.disconnect();
    await redis.stop();
  }
}, 900_000);
