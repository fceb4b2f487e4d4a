import { farStore } from '../../../../tests/support/far-store.js';
import { StoreHealth } from '../health/store-health.js';
import { fixedWindow, RateLimiter, SharedLimiter } from '../index.js';

const policy = fixedWindow({ limit: 1, window: '1h' });

/** Calls without a pause until a timer fires. @returns whether one did */
async function firesWhile(call: () => Promise<unknown>): Promise<boolean> {
  let fired = false;
  const timer = setTimeout(() => {
    fired = true;
  }, 1);
  for (let tries = 0; tries < 100_000 && !fired; tries += 1) await call().catch(() => {});
  clearTimeout(timer);
  return fired;
}

async function outage() {
  const health = new StoreHealth(() => undefined);
  const { store, fail } = farStore({ health });
  fail();
  const opening = new RateLimiter({ name: 'opening', policy, store });
  for (let i = 0; i < 5; i += 1) await opening.consume('k');
  return { health, store };
}

test.each(['local', 'allow', 'deny'] as const)(
  'calls without a pause let timers run while the store is out (%s)',
  async (failurePolicy) => {
    const { health, store } = await outage();
    const limiter = new RateLimiter({ name: 'demo', policy, store, failurePolicy });
    expect(await firesWhile(() => limiter.consume('k'))).toBe(true);
    expect(await firesWhile(() => limiter.acquire('k', { timeout: 0 }))).toBe(true);
    expect(await firesWhile(() => limiter.reset('k'))).toBe(true);
    health.end();
  },
);

test('calls of a shared rate without a pause let timers run while the store is out', async () => {
  const { health, store } = await outage();
  const limiter = new SharedLimiter({ name: 'demo', store });
  expect(await firesWhile(() => limiter.getConfig())).toBe(true);
  expect(await firesWhile(() => limiter.acquire())).toBe(true);
  health.end();
});

test('calls without a pause let timers run while their denial is cached', async () => {
  const { store } = farStore();
  const limiter = new RateLimiter({ name: 'demo', policy, store, denyCache: '1h' });
  await limiter.consume('k');
  await limiter.consume('k');
  expect(await firesWhile(() => limiter.consume('k'))).toBe(true);
});

test('many concurrent calls are all decided, in order', async () => {
  const { health, store } = await outage();
  const limiter = new RateLimiter({ name: 'demo', policy, store, failurePolicy: 'allow' });
  const answered: number[] = [];
  const calls = Array.from({ length: 1_000 }, (_, i) => limiter.consume(i).then(() => answered.push(i)));
  await Promise.all(calls);
  expect(answered).toEqual(Array.from({ length: 1_000 }, (_, i) => i));
  health.end();
});
