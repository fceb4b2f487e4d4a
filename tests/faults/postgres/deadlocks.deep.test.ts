import { fixedWindow, gcra, RateLimiter, tokenBucket } from '../../../packages/core/src/index.js';
import { sql } from '../../support/postgres/index.js';
import { fractionsFrom, TEST_SEED } from '../../support/random.js';
import { closeLater, ownPostgres, storeAt } from './servers.js';

const STORES = 8;
const KEYS = 12;
/** Keys below this are never reset. */
const COUNTED = 8;
const ROUNDS = 40;

/** Three policies a call: each call locks three rows, and a turn those of many keys. */
const policies = {
  second: gcra({ limit: 1_000, period: '1s', burst: 1_000 }),
  minute: tokenBucket({ capacity: 10_000, refill: 10_000, every: '1m' }),
  day: fixedWindow({ limit: 1_000_000, window: '24h' }),
};

test('eight stores that lock the same rows in any order meet no deadlock, and count every call', async () => {
  const { url } = await ownPostgres({ config: { deadlock_timeout: '20ms' } });
  const fraction = fractionsFrom(TEST_SEED);
  const limiters = Array.from({ length: STORES }, () => {
    const limiter = new RateLimiter({ name: 'hunted', policies, store: storeAt(url), deadline: '30s' });
    closeLater(() => limiter.close());
    return limiter;
  });
  const counts = new Map<string, number>();
  const play = async (limiter: RateLimiter): Promise<void> => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const keys = Array.from({ length: 6 }, () => String(Math.floor(fraction() * KEYS)));
      const resets = keys.filter((key) => Number(key) >= COUNTED && fraction() < 0.3);
      const calls = keys.map((key) => limiter.consume(key));
      // Their rows are removed, and made again by several stores at once.
      await Promise.all(resets.map((key) => limiter.reset(key)));
      const decisions = await Promise.all(calls);
      expect(decisions.filter(({ allowed, degraded }) => !allowed || degraded)).toEqual([]);
      for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
    }
  };
  await Promise.all(limiters.map(play));
  const [database] = await sql(url, "SELECT deadlocks FROM pg_stat_database WHERE datname = 'postgres'");
  expect(Number(database!.deadlocks)).toBe(0);
  for (let key = 0; key < COUNTED; key += 1) {
    const { policies: members } = await limiters[0]!.peek(String(key));
    const day = members.find(({ name }) => name === 'day')!;
    expect(day.limit - day.remaining).toBe(counts.get(String(key)));
  }
});
