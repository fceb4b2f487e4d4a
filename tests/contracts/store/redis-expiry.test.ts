import { Redis } from 'ioredis';
import {
  CombinedLimiter,
  RateLimiter,
  redisStore,
  SharedLimiter,
  slidingLog,
} from '../../../packages/core/src/index.js';
import { redisUrl, uniqueName } from '../../support/redis-url.js';
import { policies } from './harness.js';

/** Everything that can be done to a key is done; then the keys are looked at: a key without a TTL could block a user without end. */
test('every key that we write has a TTL', async () => {
  const keyPrefix = uniqueName('ttl');
  const client = new Redis(redisUrl());
  const store = redisStore(redisUrl());
  const common = { store, keyPrefix, deadline: '10s' } as const;
  const limiters = Object.values(policies).map(
    (policyOf, i) => new RateLimiter({ name: `limit-${i}`, policy: policyOf('1h'), ...common }),
  );
  const shared = new SharedLimiter({ name: 'shared', ...common });
  const ends = new AbortController();
  const waits: Promise<unknown>[] = [];

  for (const limiter of limiters) {
    await limiter.consume('consumed');
    await limiter.acquire('full', { cost: 10 });
    waits.push(limiter.acquire('full', { signal: ends.signal }).catch(() => undefined));
    await limiter.refund(await limiter.consume('refunded', { cost: 2 }));
    await limiter.block('blocked', '1h');
    await limiter.consume('blocked');
    await limiter.override('overridden', Object.values(limiter.policies)[0]!, { expiresIn: '2h' });
    await limiter.consume('overridden');
    const reservation = await limiter.reserve('reserved', 1);
    if (Object.values(limiter.policies)[0]!.algorithm === 'concurrency') continue;
    await reservation.settle(3);
    await limiter.penalty('punished', 100);
  }
  waits.push(
    new CombinedLimiter({ first: limiters[0]!, second: limiters[1]! })
      .acquire({ first: 'full', second: 'other' }, { signal: ends.signal })
      .catch(() => undefined),
  );
  await shared.setRate({ rate: 5, interval: '1m' });
  await shared.tryAcquire(2);

  const keys = await client.keys(`${keyPrefix}:*`);
  expect(keys.length).toBeGreaterThan(limiters.length * 5);
  const lives = await Promise.all(keys.map(async (key) => [key, await client.pttl(key)] as const));
  expect(lives.filter(([, ttl]) => ttl <= 0)).toEqual([]);

  ends.abort();
  await Promise.all(waits);
  await Promise.all([shared, ...limiters].map((limiter) => limiter.close()));
  await store.close();
  client.disconnect();
});

test('the key of an override lives until its bookings have expired under the policy', async () => {
  const client = new Redis(redisUrl());
  const store = redisStore(redisUrl());
  const name = uniqueName('booked');
  const policy = slidingLog({ limit: 10, window: '1h' });
  const limiter = new RateLimiter({ name, policy, store, deadline: '10s' });
  await limiter.override('k', slidingLog({ limit: 1, window: '10m' }), { expiresIn: '30m' });
  const waits = [1, 2, 3].map(() => limiter.acquire('k').catch(() => undefined));
  await waits[0];
  const [key] = await client.keys(`*:${name}:*`);
  expect(await client.pttl(key!)).toBeGreaterThan(75 * 60_000);
  await limiter.close();
  await Promise.all(waits);
  await store.close();
  client.disconnect();
});
