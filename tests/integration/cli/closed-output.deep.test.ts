import { once } from 'node:events';
import { redisStore } from '../../../packages/core/src/index.js';
import { type RedisServer, startRedis } from '../../support/redis/redis-server.js';
import { service } from './fleet-process.js';
import { start } from './sluice.js';

// Commands whose output is closed early, as by `| head -1`.

let server: RedisServer;
let store: ReturnType<typeof redisStore>;
let limiters: Awaited<ReturnType<typeof service>>;

beforeAll(async () => {
  server = await startRedis();
  store = redisStore(server.url);
  limiters = await service(store);
});
afterAll(async () => {
  await Promise.all(Object.values(limiters).map((limiter) => limiter.close()));
  await store.close();
  await server.stop();
});

/** @returns the exit code */
async function unread(...args: string[]): Promise<number | null> {
  const child = await start(args, { REDIS_URL: server.url });
  child.stdout.destroy();
  child.stderr.resume();
  child.stdin.end();
  const [code] = await once(child, 'exit');
  return code;
}

test('the exit code has the answer of a command that compares', async () => {
  expect(await unread('explain', 'login', 'ann')).toBe(1);
  expect(await unread('explain', 'login', 'bob')).toBe(0);
});

test('a change is made', async () => {
  expect((await limiters.login.peek('ann')).allowed).toBe(false);
  expect(await unread('reset', 'ann', '--limiter', 'login', '--yes')).toBe(0);
  expect((await limiters.login.peek('ann')).allowed).toBe(true);
});

test('watch ends', async () => {
  expect(await unread('watch', 'ann', '--limiter', 'login', '--every', '100ms')).toBe(0);
});
