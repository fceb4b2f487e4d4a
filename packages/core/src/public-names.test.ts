import { rejection } from '../../../tests/support/rejection.js';
import { fixedWindow, ManualClock, memoryStore, RateLimiter } from './index.js';
import { hideName } from './public-names.js';

test('every error of a denial shows the public name of its limiter', async () => {
  const name = 'Payments.charge';
  hideName(name, () => 'rateLimit-3f9a2c41');
  const policy = fixedWindow({ limit: 1, window: '1h' });
  const store = memoryStore({ clock: new ManualClock() });
  const limiter = new RateLimiter({ name, policy, store, maxWaiting: 0 });
  await limiter.consume('k');
  const errors = [
    await rejection(limiter.acquire('k')),
    await rejection(limiter.acquire('k', { timeout: 0 })),
    await rejection(limiter.acquire('k', { cost: 2 })),
  ];
  expect(errors.map((error) => (error as Error).message)).toEqual([
    "Rate limit 'rateLimit-3f9a2c41' exceeded: too many calls wait",
    "Rate limit 'rateLimit-3f9a2c41' exceeded: retry in 3600 s",
    "Rate limit 'rateLimit-3f9a2c41': a cost of 2 can never pass a limit of 1",
  ]);
  await limiter.close();
});
