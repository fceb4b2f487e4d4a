import { ManualClock, memoryStore, redisStore } from '@sluice/core';
import { failingStore } from '../../../tests/support/failing-store.js';
import { redisUrl, uniqueName } from '../../../tests/support/redis-url.js';
import { rejection } from '../../../tests/support/rejection.js';
import { betterAuthStorage } from './index.js';

const rule = { window: 10, max: 2 };

test('consume allows max requests in a window, and returns whole seconds to wait', async () => {
  const clock = new ManualClock();
  const storage = betterAuthStorage({ name: 'auth', store: memoryStore({ clock }) });
  const consume = () => storage.consume('203.0.113.7|/sign-in/email', rule);
  expect(await consume()).toEqual({ allowed: true, retryAfter: null });
  await clock.advance('3500ms');
  expect(await consume()).toEqual({ allowed: true, retryAfter: null });
  expect(await consume()).toEqual({ allowed: false, retryAfter: 7 });
  await clock.advance('6500ms');
  expect(await consume()).toEqual({ allowed: true, retryAfter: null });
  await storage.close();
  for (const window of [10, 60]) {
    const closed = storage.consume('203.0.113.8|/sign-in/email', { window, max: 2 });
    expect(await rejection(closed)).toMatchObject({ code: 'SLUICE_LIMITER_CLOSED' });
  }
});

test('of 40 concurrent requests by two processes, exactly max pass', async () => {
  const stores = [redisStore(redisUrl()), redisStore(redisUrl())];
  const name = uniqueName('auth');
  const storages = stores.map((store) => betterAuthStorage({ name, store, deadline: '10s' }));
  const all = await Promise.all(
    Array.from({ length: 40 }, (_, i) => storages[i % 2]!.consume('k', { window: 60, max: 5 })),
  );
  expect(all.filter(({ allowed }) => allowed)).toHaveLength(5);
  await Promise.all(stores.map((store) => store.close()));
});

test('a key keeps its count under another rule', async () => {
  const storage = betterAuthStorage();
  await storage.consume('k', rule);
  await storage.consume('k', rule);
  expect(await storage.consume('k', { window: 10, max: 3 })).toMatchObject({ allowed: true });
  expect(await storage.consume('k', { window: 10, max: 3 })).toMatchObject({ allowed: false });
});

test('a max of 0 denies each request for a window, and a max of Infinity none', async () => {
  const storage = betterAuthStorage();
  expect(await storage.consume('k', { window: 10, max: 0 })).toEqual({ allowed: false, retryAfter: 10 });
  const free = { window: 10, max: Number.POSITIVE_INFINITY };
  expect(await storage.consume('k', free)).toMatchObject({ allowed: true });
});

test('while the store is out, failurePolicy decides', async () => {
  const far = failingStore();
  far.fail();
  const storage = betterAuthStorage({ name: 'auth', store: far.store, failurePolicy: 'deny' });
  expect(await storage.consume('k', rule)).toEqual({ allowed: false, retryAfter: 1 });
});

test.each([
  [{ window: 10, max: Number.NaN }, 'limit must be a whole number'],
  [{ window: Number.NaN, max: 1 }, 'window must be a duration'],
  [{ window: 1e12, max: 1 }, 'to 3650 days'],
])('the rule %j rejects', async (bad, message) => {
  const error = await rejection(betterAuthStorage().consume('k', bad));
  expect(error).toMatchObject({ name: 'RangeError', message: expect.stringContaining(message) });
});
