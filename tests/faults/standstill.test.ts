import { performance } from 'node:perf_hooks';
import { isStoreUnavailableError, redisStore } from '../../packages/core/src/index.js';
import { LIMIT, OwnRedis, rejection } from './own-redis.js';

const redis = new OwnRedis();

/** Blocks the event loop, as a long computation or a machine that is busy with something else does. */
function standStill(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

describe('a process that stands still', () => {
  test.each([
    ['outlives the standstill', undefined],
    ['waits for the next attempt', 500],
  ])('while its first connection is being made: the call %s', async (_what, connectTimeout) => {
    const options = connectTimeout === undefined ? {} : { connectTimeout };
    const store = redisStore({ url: redis.server.url, options });
    const limiter = redis.limiter(store, '5s');
    await store.loading;
    const call = limiter.consume('k');
    // Later than the call's own microtasks and ioredis's nextTick: the connection is being made by then.
    setImmediate(() => standStill(550));
    expect(await call).toMatchObject({ source: 'redis', remaining: LIMIT - 1 });
  });

  test('for longer than a connection may be silent: the answers that came meanwhile are read', async () => {
    const limiter = redis.limiter(redisStore(redis.server.url), '100ms');
    await limiter.peek('k');
    const calls = Array.from({ length: 50 }, () => limiter.consume('k'));
    setImmediate(() => standStill(1_200));
    const decisions = await Promise.all(calls);
    expect(decisions.map(({ source }) => source)).toEqual(Array(50).fill('redis'));
    expect(decisions.at(-1)).toMatchObject({ remaining: LIMIT - 50 });
    expect((await limiter.peek('k')).remaining).toBe(LIMIT - 50);
  });
});

test('a server that refuses connections is told at once, whatever the deadline', async () => {
  await redis.server.kill();
  const limiter = redis.limiter(redisStore(redis.server.url), '20s');
  const error = await rejection(limiter.consume('k'));
  expect(isStoreUnavailableError(error) && [error.reason, error.late]).toEqual(['connection', false]);
});
