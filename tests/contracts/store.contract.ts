import {
  fixedWindow,
  type Policy,
  RateLimiter,
  type Store,
  tokenBucket,
} from '../../packages/core/src/index.js';
import { uniqueName } from '../support/redis-url.js';

/** Every algorithm, each with 10 permits that come back within `period` of real time at the earliest. */
const policies: Record<string, (period: string) => Policy> = {
  fixedWindow: (window) => fixedWindow({ limit: 10, window }),
  tokenBucket: (every) => tokenBucket({ capacity: 10, refill: 10, every }),
};

/** What every store must do with every algorithm, in real time. */
export function storeContract(name: string, open: () => Store | Promise<Store>): void {
  describe.each(Object.entries(policies))(`${name}, %s`, (_, policyOf) => {
    let store: Store;
    beforeAll(async () => {
      store = await open();
    });
    afterAll(() => store.close());

    const limiterOf = (period = '1h') =>
      new RateLimiter({ name: uniqueName('contract'), policy: policyOf(period), store, deadline: '10s' });

    test('of 50 calls at once exactly 10 pass, and remaining counts down to 0', async () => {
      const limiter = limiterOf();
      const decisions = await Promise.all(Array.from({ length: 50 }, () => limiter.consume('k')));
      expect(decisions.filter(({ allowed }) => allowed).map(({ remaining }) => remaining)).toEqual([
        9, 8, 7, 6, 5, 4, 3, 2, 1, 0,
      ]);
      for (const { allowed, retryAfter, remaining } of decisions.slice(10)) {
        expect({ allowed, remaining }).toEqual({ allowed: false, remaining: 0 });
        expect(retryAfter).toBeGreaterThan(0);
        expect(retryAfter).toBeLessThanOrEqual(3_600_000);
      }
    });

    test('keys do not touch one another', async () => {
      const limiter = limiterOf();
      await limiter.consume('a', { cost: 10 });
      expect(await limiter.consume('b', { cost: 10 })).toMatchObject({ allowed: true });
    });

    test('a cost is taken whole or not at all; one above the limit never', async () => {
      const limiter = limiterOf();
      expect(await limiter.consume('k', { cost: 7 })).toMatchObject({ allowed: true, remaining: 3 });
      expect(await limiter.consume('k', { cost: 4 })).toMatchObject({ allowed: false, remaining: 3 });
      expect(await limiter.consume('k', { cost: 11 })).toMatchObject({
        allowed: false,
        retryAfter: Number.POSITIVE_INFINITY,
      });
      expect(await limiter.consume('k', { cost: 3 })).toMatchObject({ allowed: true, remaining: 0 });
    });

    test('a cost of 0 and a peek take nothing', async () => {
      const limiter = limiterOf();
      expect(await limiter.consume('k', { cost: 0 })).toMatchObject({ allowed: true, remaining: 10 });
      expect(await limiter.peek('k', { cost: 5 })).toMatchObject({ allowed: true, remaining: 10 });
      expect(await limiter.consume('k')).toMatchObject({ remaining: 9 });
    });

    test('a retry passes at retryAfter', async () => {
      const limiter = limiterOf('200ms');
      await limiter.consume('k', { cost: 10 });
      const { allowed, retryAfter } = await limiter.consume('k', { cost: 10 });
      expect(allowed).toBe(false);
      await new Promise((resolve) => setTimeout(resolve, retryAfter + 5));
      expect(await limiter.consume('k', { cost: 10 })).toMatchObject({ allowed: true });
    });

    test('reset gives everything back', async () => {
      const limiter = limiterOf();
      await limiter.consume('k', { cost: 10 });
      await limiter.reset('k');
      expect(await limiter.consume('k', { cost: 10 })).toMatchObject({ allowed: true });
    });

    test('acquire serves in the order of asking, never before the moment', async () => {
      const limiter = limiterOf('100ms');
      const order: number[] = [];
      const start = performance.now();
      await Promise.all(
        [0, 1, 2].map(async (place) => {
          await limiter.acquire('k', { cost: 10 });
          order.push(place);
          expect(performance.now() - start).toBeGreaterThanOrEqual(place * 100 - 1);
        }),
      );
      expect(order).toEqual([0, 1, 2]);
    });

    test('acquire refuses at once what would take too long, and books nothing', async () => {
      const limiter = limiterOf();
      await limiter.acquire('k', { cost: 10 });
      const before = await limiter.peek('k', { cost: 10 });
      for (let i = 0; i < 3; i += 1) {
        await expect(limiter.acquire('k', { cost: 10, timeout: '1s' })).rejects.toMatchObject({
          code: 'SLUICE_RATE_LIMIT_EXCEEDED',
        });
      }
      expect((await limiter.peek('k', { cost: 10 })).retryAfter).toBeLessThanOrEqual(before.retryAfter);
    });

    test('an aborted acquire gives its booking back', async () => {
      const limiter = limiterOf();
      await limiter.acquire('k', { cost: 10 });
      const abort = new AbortController();
      const waiting = limiter.acquire('k', { cost: 10, signal: abort.signal });
      const ended = expect(waiting).rejects.toThrow('enough');
      setTimeout(() => abort.abort(new Error('enough')), 50);
      await ended;
      expect((await limiter.peek('k', { cost: 10 })).retryAfter).toBeLessThanOrEqual(3_600_000);
    });

    test('changed limits meet the same state', async () => {
      const limiter = limiterOf();
      await limiter.consume('k', { cost: 10 });
      const changed = new RateLimiter({ name: limiter.name, policy: policyOf('2h'), store, deadline: '10s' });
      expect(await changed.consume('k', { cost: 10 })).toMatchObject({ allowed: false });
    });
  });
}
