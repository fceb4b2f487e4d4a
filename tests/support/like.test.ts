import { fixedWindow, RateLimiter } from '../../packages/core/src/index.js';
import { storeOnDefaults } from './expecting-warning.js';
import { like } from './like.js';
import { redisUrl, uniqueName } from './redis-url.js';

test('a derived store keeps its connection as long as its limiters wait', async () => {
  const store = storeOnDefaults(redisUrl());
  const expecting = jest.spyOn(store, 'expect');
  const policy = fixedWindow({ limit: 1, window: '1h' });
  const limiter = new RateLimiter({
    name: uniqueName('patient'),
    policy,
    store: like(store, {}),
    deadline: '10s',
  });
  expect(expecting).toHaveBeenLastCalledWith(10_000);
  await limiter.close();
  await store.close();
});
