import {
  isRateNotSetError,
  ManualClock,
  memoryStore,
  SharedLimiter,
} from '../../../../packages/core/src/index.js';
import { SharedRates } from '../../../../packages/core/src/stores/shared-rate.js';
import { rejection } from '../harness.js';

const RATE = { rate: 5, interval: '1h', keepAliveTime: '2h' } as const;

/** What lives by the injected clock in memory, and by the server's own in Redis (redis.test.ts). */
describe('an idle shared limit in memory', () => {
  const clock = new ManualClock();
  const store = memoryStore({ clock });
  afterAll(() => store.close());

  test('expires; each use and each attempt to set the rate renews it', async () => {
    const limiter = new SharedLimiter({ name: 'idle', store });
    const uses = [
      () => limiter.setRate(RATE),
      () => limiter.tryAcquire(5),
      () => limiter.tryAcquire(), // denied
      () => limiter.trySetRate(RATE),
      () => limiter.updateRate(RATE),
    ];
    for (const use of uses) {
      await use();
      await clock.advance('119m');
    }
    expect(await limiter.availablePermits()).toBe(5); // to look is no use
    expect(await limiter.getConfig()).toBeDefined();
    await clock.advance('1m');
    expect(await limiter.getConfig()).toBeUndefined();
    expect(isRateNotSetError(await rejection(limiter.tryAcquire()))).toBe(true);
    expect(await limiter.trySetRate(RATE)).toBe(true);
  });
});

test('a waiting call keeps the rate alive until it passes, and then for keepAliveTime', async () => {
  const clock = new ManualClock();
  const store = memoryStore({ clock });
  const limiter = new SharedLimiter({ name: 'waited-for', store });
  const rate = { rate: 1, interval: '1h', keepAliveTime: '90m' } as const;
  await limiter.setRate(rate);
  const waits = Array.from({ length: 6 }, () => limiter.acquire());
  await clock.advance('4h');
  expect(await limiter.trySetRate(rate)).toBe(false);
  await limiter.updateRate({ ...rate, keepAliveTime: '2h' });
  await clock.advance('1h');
  expect(await Promise.all(waits)).toHaveLength(6);
  await clock.advance('119m');
  expect(await limiter.getConfig()).toBeDefined();
  await clock.advance('1m');
  expect(await limiter.getConfig()).toBeUndefined();
  await store.close();
});

test('unused names take no memory', () => {
  const rates = new SharedRates();
  const size = () => rates.size;
  const parameters = [5, 1000];
  for (let i = 0; i < 5000; i += 1) {
    rates.change(
      { action: 'set', key: `k${i}`, rate: { keepAlive: 1000, perClient: 0, parameters } },
      i * 1000,
    );
  }
  expect(size()).toBeLessThanOrEqual(1000);
});
