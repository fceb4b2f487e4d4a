import { once } from 'node:events';
import { redisStore } from '../../../packages/core/src/index.js';
import { type RedisServer, startRedis } from '../../support/redis/redis-server.js';
import { service } from './fleet-process.js';
import { sluice, start } from './sluice.js';

let redis: RedisServer;
let store: ReturnType<typeof redisStore>;
let limiters: Awaited<ReturnType<typeof service>>;

beforeAll(async () => {
  redis = await startRedis();
  store = redisStore({ url: redis.url, usage: { keys: 'plain' } });
  limiters = await service(store);
});
afterAll(async () => {
  await Promise.all(Object.values(limiters).map((limiter) => limiter.close()));
  await store.close();
  await redis.stop();
});

/** Reads a stream of the page until all texts were in it. */
async function until(url: string, headers: Record<string, string>, ...texts: string[]): Promise<string> {
  const gone = new AbortController();
  const { body } = await fetch(url, { headers, signal: gone.signal });
  let seen = '';
  for await (const chunk of body!.pipeThrough(new TextDecoderStream())) {
    seen += chunk;
    if (texts.every((text) => seen.includes(text))) break;
  }
  gone.abort();
  return seen;
}

test('sluice dashboard serves the page to the browser that opens its address, until Ctrl-C', async () => {
  const child = await start(['dashboard'], { REDIS_URL: redis.url });
  let said = '';
  for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
    said += chunk;
    if (/token=\S+\n/.test(said)) break;
  }
  const [url] = /http:\S+/.exec(said) as unknown as [string];
  const { origin, pathname } = new URL(url);
  expect((await fetch(`${origin}${pathname}events`)).status).toBe(401);
  const opened = await fetch(url, { redirect: 'manual' });
  const headers = { Cookie: opened.headers.get('Set-Cookie')!.split(';')[0]! };
  const page = origin + pathname;
  expect(await (await fetch(page, { headers })).text()).toContain('<title>Sluice');
  const events = await until(
    `${page}events`,
    headers,
    '"name":"login"',
    '"text":"ann"',
    'event: findings\ndata: [{',
  );
  expect(events).toContain('"write":false');
  const post = { Origin: origin, 'Content-Type': 'application/json', ...headers };
  const body = JSON.stringify({ limiter: 'login', key: 'ann', action: 'reset', confirmed: true });
  expect((await fetch(`${page}change`, { method: 'POST', headers: post, body })).status).toBe(403);
  child.kill('SIGINT');
  expect((await once(child, 'exit'))[1]).toBeNull();
}, 60_000);

test('a wrong port is refused', async () => {
  const { code, stderr } = await sluice(['dashboard', '--port', 'http'], { REDIS_URL: redis.url });
  expect(code).toBe(2);
  expect(stderr).toContain('--port takes a number from 0 to 65535, not http.');
}, 60_000);
