import {
  ManualClock,
  memoryStore,
  RateLimiter,
  type RedisStore,
  type TokenBucketOptions,
  tokenBucket,
} from '../../../packages/core/src/index.js';
import { redisUrl, uniqueName } from '../../support/redis-url.js';
import { evaluate } from './page.js';

const PAGE = 'envoy-and-java';

test('the program of the page runs in Redis', async () => {
  const replace = {
    'import { memoryStore': 'import { redisStore',
    'const store = memoryStore()': `const store = redisStore('${redisUrl()}')`,
    "'api'": `'${uniqueName('api')}'`,
  };
  type Page = { take(key: string): Promise<string>; store: RedisStore };
  const { take, store } = await evaluate<Page>(
    PAGE,
    'With Sluice',
    require,
    ['take', 'store'],
    'Bucket4j',
    replace,
  );
  expect([await take('bob'), await take('bob')]).toEqual(['3 left', '1 left']);
  expect(await take('bob')).toMatch(/^retry in \d+ s$/);
  await store.close();
});

describe('the tables about buckets', () => {
  let clock: ManualClock;
  let store: ReturnType<typeof memoryStore>;
  beforeEach(() => {
    clock = new ManualClock();
    store = memoryStore({ clock });
  });
  const limiterOf = (options: TokenBucketOptions) =>
    new RateLimiter({ name: 'bucket', policy: tokenBucket(options), store });

  test('penalty gives the results of bucket4j’s example of consumeIgnoringRateLimits', async () => {
    const limiter = limiterOf({ capacity: 10, refill: 10, every: '1s' });
    await limiter.consume('k', { cost: 8 });
    await clock.advance('100ms');
    await limiter.penalty('k', 6); // 3 tokens are left, so 3 are owed, and the next is free in 400 ms
    expect(await limiter.peek('k')).toMatchObject({ allowed: false, retryAfter: 400 });
  });

  test('reward, like addTokens, never exceeds the capacity', async () => {
    const limiter = limiterOf({ capacity: 10, refill: 10, every: '1s' });
    await limiter.consume('k', { cost: 4 });
    await limiter.reward('k', 50);
    expect(await limiter.peek('k')).toMatchObject({ remaining: 10 });
  });

  test('initial and mode equal initialTokens, refillGreedy and refillIntervally', async () => {
    const greedy = limiterOf({ capacity: 10, refill: 10, every: '1s', initial: 1 });
    expect(await greedy.peek('k')).toMatchObject({ remaining: 1 });
    await greedy.consume('k');
    await clock.advance('500ms');
    expect(await greedy.peek('k')).toMatchObject({ remaining: 5 });
    await greedy.close();

    const lots = new RateLimiter({
      name: 'lots',
      policy: tokenBucket({ capacity: 10, refill: 10, every: '1s', mode: 'interval' }),
      store,
    });
    await lots.consume('k', { cost: 10 });
    await clock.advance('999ms');
    expect(await lots.peek('k')).toMatchObject({ remaining: 0 });
    await clock.advance('1ms');
    expect(await lots.peek('k')).toMatchObject({ remaining: 10 });
  });

  test.each([
    ['PROPORTIONALLY', { capacity: 200, refill: 200, every: '1m' }, 80],
    ['ADDITIVE', { capacity: 200, refill: 100, every: '1m' }, 140],
  ])('new numbers keep the tokens as %s', async (_, options, remaining) => {
    const before = limiterOf({ capacity: 100, refill: 100, every: '1m' });
    await before.consume('k', { cost: 60 });
    await before.close();
    expect(await limiterOf(options).peek('k')).toMatchObject({ remaining });
  });

  test('an override keeps the tokens as ADDITIVE', async () => {
    const limiter = limiterOf({ capacity: 100, refill: 100, every: '1m' });
    await limiter.consume('k', { cost: 60 });
    const policy = tokenBucket({ capacity: 200, refill: 200, every: '1m' });
    await limiter.override('k', policy, { expiresIn: '1h' });
    expect(await limiter.peek('k')).toMatchObject({ remaining: 140 });
  });

  test('an aborted wait gives its tokens back, and a too long wait rejects at once', async () => {
    const limiter = limiterOf({ capacity: 1, refill: 1, every: '1s' });
    await limiter.consume('k');
    const controller = new AbortController();
    const waiting = limiter.acquire('k', { signal: controller.signal });
    const aborted = expect(waiting).rejects.toThrow();
    controller.abort();
    await aborted;
    await expect(limiter.acquire('k', { timeout: '999ms' })).rejects.toThrow('retry in 1 s');
    await clock.advance('1s');
    expect(await limiter.peek('k')).toMatchObject({ remaining: 1 });
  });
});
