import { performance } from 'node:perf_hooks';
import { isStoreUnavailableError, redisStore } from '../../packages/core/src/index.js';
import { eventually, LIMIT, OwnRedis, rejection } from './own-redis.js';

const redis = new OwnRedis();

/** Blocks the event loop, as a long computation or an overloaded machine does. */
function standStill(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

describe('a blocked event loop', () => {
  test.each([
    ['still connects afterwards', undefined],
    ['waits for the next attempt', 500],
  ])('during the first connection does not time out the call: %s', async (_what, connectTimeout) => {
    const options = connectTimeout === undefined ? {} : { connectTimeout };
    const store = redisStore({ url: redis.server.url, options });
    const limiter = redis.limiter(store, '5s');
    await store.loading;
    const call = limiter.consume('k');
    // Runs after the call's own microtasks and ioredis's nextTick, when the connection attempt has started.
    setImmediate(() => standStill(550));
    expect(await call).toMatchObject({ source: 'redis', remaining: LIMIT - 1 });
  });

  test('for longer than the socket timeout still reads replies that have arrived', async () => {
    const limiter = redis.limiter(redisStore(redis.server.url), '400ms');
    await eventually(() => limiter.peek('k'));
    const calls = Array.from({ length: 50 }, () => limiter.consume('k'));
    setImmediate(() => standStill(1_800));
    const decisions = await Promise.all(calls);
    expect(decisions.map(({ source }) => source)).toEqual(Array(50).fill('redis'));
    expect(decisions.at(-1)).toMatchObject({ remaining: LIMIT - 50 });
    expect((await eventually(() => limiter.peek('k'))).remaining).toBe(LIMIT - 50);
  });
});

test('a refused connection rejects the call at once, before its deadline', async () => {
  await redis.server.kill();
  const limiter = redis.limiter(redisStore(redis.server.url), '20s');
  const error = await rejection(limiter.consume('k'));
  expect(isStoreUnavailableError(error) && [error.reason, error.late]).toEqual(['connection', false]);
});
