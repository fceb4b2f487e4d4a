import { Redis } from 'ioredis';
import {
  fixedWindow,
  RateLimiter,
  type RateLimiterOptions,
  redisStore,
  subscribe,
  type ThresholdMessage,
} from '../../../packages/core/src/index.js';
import { eventually } from '../../support/eventually.js';
import { startRedis } from '../../support/redis/redis-server.js';
import { redisUrl, uniqueName } from '../../support/redis-url.js';

const closers: (() => unknown)[] = [];
const messages: ThresholdMessage[] = [];
beforeEach(() => {
  messages.length = 0;
  closers.push(subscribe('sluice:threshold', (message) => messages.push(message)));
});
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** A limiter with its own store, as in another process. */
function limiterOf(name: string, options: Partial<RateLimiterOptions> = {}): RateLimiter {
  const store = redisStore(redisUrl());
  const limiter = new RateLimiter({
    name,
    policy: fixedWindow({ limit: 10, window: '1 year', timeZone: 'Europe/Berlin' }),
    store,
    deadline: '10s',
    notify: ['80%', '100%'],
    ...options,
  } as RateLimiterOptions);
  closers.push(
    () => store.close(),
    () => limiter.close(),
  );
  return limiter;
}
const received = (count: number) => eventually(async () => messages.length >= count && messages.splice(0));

test('one of several stores publishes, and the claim lasts as long as the window', async () => {
  const name = uniqueName('quota');
  const limiters = [limiterOf(name), limiterOf(name), limiterOf(name)];
  await Promise.all(limiters.map((limiter) => limiter.consume('ann', { cost: 3 })));
  const [message] = await received(1);
  expect(message).toMatchObject({
    limiter: name,
    policy: name,
    key: 'ann',
    threshold: '80%',
    limit: 10,
    used: 9,
  });
  const year = new Date(message!.windowStart + 12 * 3_600_000).getUTCFullYear();
  expect(new Date(message!.windowStart).toISOString()).toBe(`${year - 1}-12-31T23:00:00.000Z`);
  expect(new Date(message!.windowEnd).toISOString()).toBe(`${year}-12-31T23:00:00.000Z`);
  await Promise.all(limiters.map((limiter) => limiter.consume('ann')));
  expect((await received(1)).map(({ threshold }) => threshold)).toEqual(['100%']);
  const redis = new Redis(redisUrl());
  closers.push(() => redis.disconnect());
  for (const threshold of [8_000, 10_000]) {
    const claim = `sluice:v2:notify:${name}:{ann}:${threshold}:${message!.limit}:${message!.windowEnd * 1000}`;
    const left = message!.windowEnd - Date.now();
    expect(Math.abs((await redis.pttl(claim)) - left - 60_000)).toBeLessThan(30_000);
  }
});

test('prefetched permits count when calls use them, and never twice', async () => {
  const policy = fixedWindow({ limit: 200, window: '1 year' });
  const limiter = limiterOf(uniqueName('quota'), { policy, prefetch: { most: 20 } });
  let prefetched = 0;
  for (let call = 1; call <= 200; call += 1) {
    const { allowed, source } = await limiter.consume('ann');
    expect(allowed).toBe(true);
    if (source === 'prefetch') prefetched += 1;
    if (call === 159) expect(messages).toEqual([]);
  }
  expect(prefetched).toBeGreaterThan(0);
  expect((await received(2)).map(({ threshold }) => threshold)).toEqual(['80%', '100%']);
});

test('a server that refuses the claim causes a warning, and rejects no call', async () => {
  const server = await startRedis();
  const admin = new Redis(server.url);
  closers.push(
    () => server.stop(),
    () => admin.disconnect(),
  );
  await admin.call('ACL', 'SETUSER', 'app', 'on', '>pw', '~sluice:v2:fw:*', '+@all');
  const store = redisStore({ url: server.url.replace('//', '//app:pw@'), definitions: false });
  closers.push(() => store.close());
  const limiter = limiterOf(uniqueName('quota'), { store });
  const emitted = jest.spyOn(process, 'emitWarning').mockImplementation(() => {});
  closers.push(() => emitted.mockRestore());
  expect((await limiter.consume('ann', { cost: 9 })).allowed).toBe(true);
  const [text, options] = await eventually(async () => emitted.mock.calls[0]);
  expect(text).toMatch(/a threshold cannot be reported: .*NOPERM/);
  expect(options).toMatchObject({ code: 'SLUICE_THRESHOLD_LOST' });
  expect(messages).toEqual([]);
});
