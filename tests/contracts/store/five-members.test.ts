import {
  concurrency,
  fixedWindow,
  ManualClock,
  memoryStore,
  RateLimiter,
  SharedLimiter,
  type Store,
  tokenBucket,
} from '../../../packages/core/src/index.js';
import { storedRules } from '../../../packages/rules/src/index.js';

// A new store begins with five members. Its facets come later, and what needs one says so.

function smallStore(remote: boolean) {
  const clock = new ManualClock();
  const memory = memoryStore({ clock });
  const store: Store = {
    name: 'small',
    clock,
    remote,
    decide: async (call) => memory.decide(call),
    close: () => memory.close(),
  };
  return { clock, store };
}

describe.each([false, true])('a store of five members, remote: %s', (remote) => {
  test('decides', async () => {
    const { clock, store } = smallStore(remote);
    const limiter = new RateLimiter({ name: 'a', policy: fixedWindow({ limit: 1, window: '1m' }), store });
    expect((await limiter.consume('k')).allowed).toBe(true);
    expect((await limiter.consume('k')).allowed).toBe(false);
    await clock.advance('1m');
    expect((await limiter.consume('k')).allowed).toBe(true);
    await store.close();
  });

  test('lets a call wait for a moment', async () => {
    const { clock, store } = smallStore(remote);
    const policy = tokenBucket({ capacity: 1, refill: 1, every: '1s' });
    const limiter = new RateLimiter({ name: 'b', policy, store });
    await limiter.acquire('k');
    const waiting = limiter.acquire('k', { timeout: '5s' });
    await clock.advance('2s');
    expect((await waiting).waited).toBeGreaterThanOrEqual(1_000);
    await store.close();
  });

  test('lets a call wait for a released permit, which it finds by polling', async () => {
    const { clock, store } = smallStore(remote);
    const policy = concurrency({ limit: 1, lease: '1m' });
    const limiter = new RateLimiter({ name: 'c', policy, store });
    const held = await limiter.acquire('k');
    const waiting = limiter.acquire('k', { timeout: '30s' });
    await clock.advance('1s');
    await limiter.release(held);
    await clock.advance('10s');
    expect((await waiting).allowed).toBe(true);
    await store.close();
  });

  test('says what it lacks', async () => {
    const { store } = smallStore(remote);
    expect(() => new SharedLimiter({ name: 'd', store })).toThrow('store "small" has no rate()');
    const policy = fixedWindow({ limit: 1, window: '1m' });
    expect(() => new RateLimiter({ name: 'e', policy, store, notify: ['80%'] })).toThrow('with claim()');
    expect(() => storedRules(store)).toThrow('storedRules takes a redisStore(…)');
    await store.close();
  });
});
