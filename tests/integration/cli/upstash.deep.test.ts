import { fixedWindow, RateLimiter } from '../../../packages/core/src/index.js';
import { type UpstashStore, upstashStore } from '../../../packages/upstash/src/index.js';
import { eventually } from '../../support/eventually.js';
import { type RedisServer, startRedis } from '../../support/redis/redis-server.js';
import { uniqueName } from '../../support/redis-url.js';
import { UPSTASH_TOKEN, UpstashDouble } from '../../support/upstash.js';
import { sluice } from './sluice.js';

// Its own, because the state of a store shows the limits of all tests that use it.
let server: RedisServer;
let double: UpstashDouble;
let store: UpstashStore;
let limiter: RateLimiter;
beforeAll(async () => {
  server = await startRedis();
  double = await UpstashDouble.start(server.url);
  store = upstashStore({ url: double.url, token: UPSTASH_TOKEN, definitions: true });
  const policy = fixedWindow({ limit: 3, window: '1h' });
  limiter = new RateLimiter({ name: uniqueName('mail'), policy, store, deadline: '10s' });
});
afterAll(async () => {
  await limiter.close();
  await store.close();
  await double.stop();
  await server.stop();
});

const run = (args: string[], token = UPSTASH_TOKEN) =>
  sluice([...args, '--store', double.url], { UPSTASH_REDIS_REST_TOKEN: token, COLUMNS: '1000' });

test('ls, explain and block work over REST', async () => {
  await limiter.consume('ann');
  await eventually(async () => (await run(['ls', '--json'])).stdout.includes(limiter.name));
  expect((await run([])).stdout).toMatch(
    /^https?:.* answers in [\d.]+ ms\.[\s\S]*upstashStore\(\{ …, usage: true \}\) counts them/,
  );
  const explained = await run(['explain', limiter.name, 'ann', '--json']);
  expect(explained).toMatchObject({ code: 0, stderr: '' });
  const block = ['block', 'ann', '--limiter', limiter.name, '--for', '1h', '--yes'];
  expect(await run(block)).toMatchObject({ code: 0 });
  expect(await limiter.consume('ann')).toMatchObject({ allowed: false, degraded: false });
});

test.each([
  ['', 'UPSTASH_REDIS_REST_TOKEN is not set'],
  ['wrong', 'the token is refused'],
])('says what is wrong with the token %p', async (token, message) => {
  const { code, stderr } = await run(['ls'], token);
  expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
});
