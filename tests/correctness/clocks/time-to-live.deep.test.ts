import { JITTER } from '../../../packages/core/src/algorithms/algorithm.js';
import { compilePolicy } from '../../../packages/core/src/algorithms/index.js';
import { gcra, leakyBucket, tokenBucket } from '../../../packages/core/src/index.js';
import { redisUrl, uniqueName } from '../../support/redis-url.js';
import { START } from '../../support/timeline.js';
import { type CallOptions, type RedisSide, redisSide } from './sides.js';
import { HOUR, held, jumps, LIMIT, SECOND, type Subject, spaced, subjects, YEAR } from './subjects.js';

/** The TTL of each key after each call, ms. Redis measures it by its own clock, whatever moment the script gets. */
const lives = new Map<string, number>();
let redis: RedisSide;
beforeAll(() => {
  redis = redisSide(redisUrl(), async (client, key) => lives.set(key, await client.pttl(key)));
});
afterAll(() => redis.close());

const NO_KEY = -2;
const ms = (micros: number) => Math.ceil(micros / 1000);
/** Rounding lets a key expire up to this many ms later than its state ends. */
const MORE = 3;

describe.each(Object.entries(subjects))('%s', (name, { policy, longestTtl }: Subject) => {
  test.each(Object.entries(jumps))(
    'after a jump %s every key has a TTL of bounded length',
    async (_, jump) => {
      const first: readonly CallOptions[] = [
        { cost: LIMIT },
        { operation: 'peek' },
        {},
        { operation: 'refund', at: START },
        { operation: 'charge', cost: 1 },
      ];
      for (const options of first) {
        const key = uniqueName('life');
        const { ask } = redis.key(policy, key);
        await ask(START, { cost: LIMIT });
        for (const now of [START + jump, START + jump + HOUR / 4, START + HOUR / 2, START + jump]) {
          await ask(now, options);
          const ttl = lives.get(key)!;
          expect(ttl === NO_KEY || ttl > 0).toBe(true);
          // A penalty takes more than an empty bucket holds.
          if (options.operation !== 'charge') expect(ttl).toBeLessThanOrEqual(ms(longestTtl + JITTER) + MORE);
        }
      }
    },
  );

  test.each(Object.entries(jumps))(
    'after a jump %s the TTL covers bookings, blocks and overrides, and no more',
    async (_, jump) => {
      const override = compilePolicy(policy).parameters;
      for (const options of [
        { operation: 'block', wait: 2 * HOUR },
        { operation: 'override', wait: 2 * HOUR, override },
      ] as const) {
        const key = uniqueName('life');
        const { ask } = redis.key(policy, key);
        await ask(START, options);
        expect(lives.get(key)).toBeGreaterThan(ms(2 * HOUR) - 60_000);
        for (const now of [START + jump, START + jump + 1, START + jump + HOUR]) {
          await ask(now);
          const ttl = lives.get(key)!;
          expect(ttl === NO_KEY || ttl > 0).toBe(true);
          expect(ttl).toBeLessThanOrEqual(ms(Math.max(longestTtl, 2 * HOUR) + JITTER) + MORE);
        }
      }
      if (held.has(name)) return;
      const key = uniqueName('life');
      const { ask } = redis.key(policy, key);
      let last = 0;
      const leaks = spaced.has(name);
      await ask(START, { cost: leaks ? 1 : LIMIT });
      for (let i = 0; i < (leaks ? LIMIT - 1 : 2 * LIMIT); i += 1) {
        last = (await ask(START, { operation: 'acquire', wait: YEAR })).wait;
      }
      for (const now of [START + jump, START + jump + 1]) {
        await ask(now);
        const ttl = lives.get(key)!;
        expect(ttl === NO_KEY || ttl > 0).toBe(true);
        expect(ttl).toBeLessThanOrEqual(ms(last + 2 * longestTtl + JITTER) + MORE);
        if (jump < 0) expect(ttl).toBeGreaterThan(ms(last) - 60_000);
      }
    },
  );
});

test.each([
  tokenBucket({ capacity: 100, refill: 100, every: '1h' }),
  tokenBucket({ capacity: 100, refill: 10, every: '6m', mode: 'interval' }),
  gcra({ limit: 100, period: '1h', burst: 100 }),
  leakyBucket({ capacity: 100, leak: 100, every: '1h' }),
])('%p: most calls do not change the TTL, which still outlasts the state', async (policy) => {
  const key = uniqueName('life');
  const { ask } = redis.key(policy, key);
  let [now, expiry, until, inPlace] = [START, 0, 0, 0];
  for (let i = 0; i < 200; i += 1) {
    now += (i % 7) * 10 * SECOND;
    const [seconds, micros] = await redis.redis.time();
    const { parts } = await ask(now);
    const written = await redis.redis.pexpiretime(key);
    if (written === expiry) inPlace += 1;
    else until = now + written * 1000 - (Number(seconds) * 1_000_000 + Number(micros));
    expiry = written;
    expect(until).toBeGreaterThanOrEqual(now + parts[0]!.reset);
  }
  expect(inPlace).toBeGreaterThan(120);
});

test('a bucket that was full before the latest moment of a jittering clock is full', async () => {
  const key = uniqueName('life');
  const { ask } = redis.key(gcra({ limit: 100, period: '1h' }), key);
  const state = Buffer.alloc(24);
  for (const [i, moment] of [START - 5, START, START - HOUR].entries()) state.writeDoubleBE(moment, i * 8);
  await redis.redis.set(key, state, 'PX', 60_000);
  expect(await ask(START + 1)).toMatchObject({ allowed: true, parts: [{ remaining: 99 }] });
});

test('a bucket that expires as the clock jumps back begins again, and stays stored', async () => {
  const key = uniqueName('life');
  const { ask } = redis.key(tokenBucket({ capacity: 5, refill: 5, every: '1h', initial: 0 }), key);
  const state = Buffer.alloc(24);
  for (const [i, moment] of [START + 5_000, START + 12_000, START - HOUR].entries()) {
    state.writeDoubleBE(moment, i * 8);
  }
  await redis.redis.set(key, state, 'PX', 60_000);
  expect(await ask(START)).toMatchObject({ allowed: false, parts: [{ remaining: 0 }] });
  expect(await redis.redis.exists(key)).toBe(1);
});
