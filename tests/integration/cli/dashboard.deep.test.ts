import { Redis } from 'ioredis';
import { redisStore } from '../../../packages/core/src/index.js';
import { eventually } from '../../support/eventually.js';
import { type RedisServer, startRedis } from '../../support/redis/redis-server.js';
import { service } from './fleet-process.js';
import { openLivePage } from './live-page.js';
import { ONCALL_RULES } from './oncall-user.js';
import { sluice } from './sluice.js';

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

test('sluice dashboard serves the page at its address until Ctrl-C', async () => {
  const page = await openLivePage([], { REDIS_URL: redis.url });
  expect((await fetch(page.address, { redirect: 'manual' })).status).toBe(401);
  expect((await fetch(`${page.url}events`)).status).toBe(401);
  expect(await (await fetch(page.url, { headers: page.headers })).text()).toContain('<title>Sluice');
  const events = await page.until('events', ['"name":"login"', '"text":"ann"', 'event: findings\ndata: [{']);
  expect(events).toContain('"write":false');
  expect((await page.change({ limiter: 'login', key: 'ann', action: 'reset' }))[0]).toBe(403);
  expect(await page.stop()).toBe(0);
}, 60_000);

test('the dashboard shows the findings of sluice doctor with the same options', async () => {
  const page = await openLivePage(
    ['--limiter-deadline', '0.001ms', '--prefix', 'app', '--acl-user', 'nobody'],
    {
      REDIS_URL: redis.url,
    },
  );
  const events = await page.until('events', ['event: findings\ndata: [{']);
  await page.stop();
  expect(events).toContain('the deadline is 0 ms');
  expect(events).toContain("There is no user 'nobody'");
}, 60_000);

test('the dashboard works for the user of docs/cli.md, who cannot write', async () => {
  const admin = new Redis(redis.url);
  await admin.call('ACL', 'SETUSER', 'oncall', 'reset', 'on', '>pw', ...ONCALL_RULES);
  const page = await openLivePage(['--write', '--user', 'oncall'], {
    REDIS_URL: redis.url,
    REDIS_PASSWORD: 'pw',
  });
  try {
    const events = await page.until('events', ['"name":"login"', '"text":"ann"', 'findings\ndata: [{']);
    expect(events).toContain("The user 'oncall' may not run COMMAND INFO");
    const ann = { limiter: 'login', key: 'ann' };
    expect(await page.until('key', ['event: key'], ann)).toContain('"allowed":false');
    // Redis has had several texts for it.
    expect(await page.change({ ...ann, action: 'reset' })).toEqual([
      503,
      expect.stringMatching(/user|NOPERM/),
    ]);
  } finally {
    await page.stop();
    admin.disconnect();
  }
}, 60_000);

test.each([
  ['--port', 'http', '--port takes a number from 0 to 65535, not http.'],
  ['--limiter-deadline', 'soon', '--limiter-deadline must be a duration'],
])(
  'sluice dashboard rejects %s %s',
  async (option, value, sentence) => {
    const { code, stderr } = await sluice(['dashboard', option, value], { REDIS_URL: redis.url });
    expect(code).toBe(2);
    expect(stderr).toContain(sentence);
  },
  60_000,
);

test.each([
  ['out', () => redis.kill(), () => redis.restart(), /ECONNREFUSED/],
  ['frozen', () => redis.freeze(), () => redis.thaw(), /connection was lost|no connection|no answer/],
])(
  'the dashboard reports that Redis is %s, and works again when Redis is back',
  async (_, stop, goOn, error) => {
    const page = await openLivePage(['--deadline', '1s'], { REDIS_URL: redis.url });
    await page.until('events', ['event: health', '"out":[]']);
    await stop();
    // A read that is under way fails with another error first.
    await eventually(async () => error.test(await page.until('events', ['"out":[{'])));
    await goOn();
    await eventually(async () => !(await page.until('events', ['event: health'])).includes('"out":[{'));
    expect(await page.stop()).toBe(0);
  },
  60_000,
);
