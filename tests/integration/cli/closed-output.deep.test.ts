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
async function unreadAt(stream: 'stdout' | 'stderr', ...args: string[]): Promise<number | null> {
  const child = await start(args, { REDIS_URL: server.url });
  child.stdout.resume();
  child.stderr.resume();
  child[stream].destroy();
  child.stdin.end();
  const [code] = await once(child, 'exit');
  return code;
}

const unread = (...args: string[]) => unreadAt('stdout', ...args);

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

test.each<[number, string[]]>([
  [2, ['inspect', 'ann', '--limiter']],
  [2, ['ls', '--redis', 'redis://127.0.0.1:1']],
  [2, ['reset', 'ann', '--limiter', 'login']],
  [0, ['explain', 'login', 'bob']],
])('the exit code is %d, also when stderr is closed: %j', async (code, args) => {
  expect(await unreadAt('stderr', ...args)).toBe(code);
});
