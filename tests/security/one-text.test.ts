import { fixedWindow, type LimiterKey, memoryStore, RateLimiter, redisStore } from '@sluice/core';
import { redisUrl, uniqueName } from '../support/redis-url.js';

const stores = { memory: memoryStore(), Redis: redisStore(redisUrl()) };
afterAll(() => Promise.all(Object.values(stores).map((store) => store.close())));

const policy = fixedWindow({ limit: 100, window: '1h' });

// As docs/security.md says: changing the type of a value gives a client no second limit.
test.each(
  (['memory', 'Redis'] as const).flatMap((where) => [
    [where, [7, '7', 7n]] as const,
    [where, [true, 'true']] as const,
    [where, [0, -0, '0', 0n]] as const,
  ]),
)('in %s values with the same text have the same key: %p', async (where, keys: readonly LimiterKey[]) => {
  const place = { name: uniqueName('text'), policy, store: stores[where], deadline: '10s' };
  const limiter = new RateLimiter(place);
  const left = [];
  for (const key of keys) left.push((await limiter.consume(key)).remaining);
  expect(left).toEqual(keys.map((_, i) => 99 - i));
});

test.each([
  ['memory', [7, '07', '7.0', ' 7', '７', 'true', 'TRUE']],
  ['Redis', [7, '07', '7.0', ' 7', '７', 'true', 'TRUE']],
] as const)('in %s values with different texts have different keys', async (where, keys) => {
  const place = { name: uniqueName('text'), policy, store: stores[where], deadline: '10s' };
  const limiter = new RateLimiter(place);
  for (const key of keys) expect(await limiter.consume(key)).toMatchObject({ remaining: 99 });
});
