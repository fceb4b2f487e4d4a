import {
  fixedWindow,
  gcra,
  type Policy,
  RateLimiter,
  redisStore,
  slidingWindow,
} from '../../../packages/core/src/index.js';
import { redisUrl, uniqueName } from '../../support/redis-url.js';

/** Two processes, each with a store of its own on one Redis, and one that calls Redis for each permit. */
function fleet(policy: Policy) {
  const name = uniqueName('prefetch');
  const stores = [redisStore(redisUrl()), redisStore(redisUrl())];
  // Blocks may last longer than a busy machine takes: the test is that none is lost.
  const options = { name, policy, deadline: '10s', denyCache: false } as const;
  const [one, two] = stores.map(
    (store) => new RateLimiter({ ...options, store, prefetch: { most: 50, idle: '1m' } }),
  );
  const plain = new RateLimiter({ ...options, store: stores[0]! });
  const close = async () => {
    await Promise.all([one, two, plain].map((limiter) => limiter!.close()));
    await Promise.all(stores.map((store) => store.close()));
  };
  return { one: one!, two: two!, plain, close };
}

const policies: [string, Policy][] = [
  ['fixedWindow', fixedWindow({ limit: 1_000, window: '1h' })],
  ['slidingWindow', slidingWindow({ limit: 1_000, window: '10h' })],
];

test.each(policies)(
  '%s in Redis: two processes spend the limit to the last permit, and no more',
  async (_, policy) => {
    const { one, two, plain, close } = fleet(policy);
    try {
      const sources = { prefetched: 0, store: 0 };
      let allowed = 0;
      const consume = async (limiter: RateLimiter): Promise<boolean> => {
        const decision = await limiter.consume('k');
        sources[decision.source === 'prefetch' ? 'prefetched' : 'store'] += 1;
        if (decision.allowed) allowed += 1;
        return decision.allowed;
      };
      const spend = async (limiter: RateLimiter): Promise<void> => {
        while (await consume(limiter))
          if (allowed % 7 === 0) await Promise.all([consume(limiter), consume(limiter)]);
      };
      await Promise.all([spend(one), spend(two)]);
      // After a denial while the other process had a block, the store has nothing left either.
      expect(await plain.peek('k')).toMatchObject({ remaining: 0 });
      expect(allowed).toBe(1_000);
      expect(sources.prefetched).toBeGreaterThan(sources.store);
    } finally {
      await close();
    }
  },
);

test.each([...policies, ['gcra', gcra({ limit: 1_000, period: '100h' })] as [string, Policy]])(
  '%s in Redis: a process that closes returns its unused permits',
  async (_, policy) => {
    const { one, two, plain, close } = fleet(policy);
    try {
      for (let i = 0; i < 45; i += 1) await Promise.all([one.consume('k'), two.consume('k')]);
      const { remaining } = await plain.peek('k');
      expect(remaining).toBeLessThan(1_000 - 90);
      await Promise.all([one.close(), two.close()]);
      // A bucket gives back less what may have flowed back meanwhile: a part of a permit.
      const bucket = policy.algorithm === 'gcra' ? 2 : 0;
      const back = (await plain.peek('k')).remaining - (1_000 - 90);
      expect(back).toBeLessThanOrEqual(0);
      expect(back).toBeGreaterThanOrEqual(-bucket);
    } finally {
      await close();
    }
  },
);
