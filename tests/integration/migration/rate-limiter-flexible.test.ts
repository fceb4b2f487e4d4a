import { Redis } from 'ioredis';
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes, RateLimiterUnion } from 'rate-limiter-flexible';
import {
  CombinedLimiter,
  fixedWindow,
  memoryStore,
  RateLimiter,
  recommendedRedisOptions,
  redisStore,
  type Store,
} from '../../../packages/core/src/index.js';
import { redisUrl, uniqueName } from '../../support/redis-url.js';

/** The facts that both packages report for a key: allowed, permits left, seconds until more (rounded, because time passes). */
interface Seen {
  readonly allowed: boolean;
  readonly remaining: number;
  readonly minutes: number;
}
/** One interface for both packages, by the table of docs/migration/rate-limiter-flexible.md. */
interface Limit {
  consume(key: string, points?: number): Promise<Seen>;
  /** `undefined`: the key has no count. */
  get(key: string): Promise<Seen | undefined>;
  penalty(key: string, points: number): Promise<unknown>;
  reward(key: string, points: number): Promise<unknown>;
  block(key: string, seconds: number): Promise<unknown>;
  set(key: string, points: number): Promise<unknown>;
  delete(key: string): Promise<unknown>;
  /** The first call of a key, with its own window. */
  consumeFor(key: string, seconds: number): Promise<Seen>;
}

const POINTS = 5;
const DURATION = 3600;

function theirs(limiter: RateLimiterMemory | RateLimiterRedis): Limit {
  const seen = (allowed: boolean, { remainingPoints, msBeforeNext }: RateLimiterRes): Seen => ({
    allowed,
    remaining: remainingPoints,
    minutes: Math.round(msBeforeNext / 60_000),
  });
  const outcomeOf = (consuming: Promise<RateLimiterRes>) =>
    consuming.then(
      (result) => seen(true, result),
      (result) => seen(false, result as RateLimiterRes),
    );
  return {
    consume: (key, points) => outcomeOf(limiter.consume(key, points)),
    get: async (key) => {
      const result = await limiter.get(key);
      return result === null ? undefined : seen(result.remainingPoints > 0, result);
    },
    penalty: (key, points) => limiter.penalty(key, points),
    reward: (key, points) => limiter.reward(key, points),
    block: (key, seconds) => limiter.block(key, seconds),
    set: (key, points) => limiter.set(key, points, DURATION),
    delete: (key) => limiter.delete(key),
    consumeFor: (key, seconds) => outcomeOf(limiter.consume(key, 1, { customDuration: seconds })),
  };
}

const policy = (seconds = DURATION) => fixedWindow({ limit: POINTS, window: seconds * 1000 });

function ours(store: Store, name = uniqueName('flexible')): Limit {
  const limiter = new RateLimiter({ name, policy: policy(), store, deadline: '10s' });
  const consume = async (key: string, cost = 1): Promise<Seen> => {
    const { allowed, remaining, retryAfter, resetAfter } = await limiter.consume(key, { cost });
    return { allowed, remaining, minutes: Math.round((allowed ? resetAfter : retryAfter) / 60_000) };
  };
  return {
    consume,
    get: async (key) => {
      const { allowed, remaining, resetAfter } = await limiter.peek(key);
      return resetAfter === 0 ? undefined : { allowed, remaining, minutes: Math.round(resetAfter / 60_000) };
    },
    penalty: (key, points) => limiter.penalty(key, points),
    reward: (key, points) => limiter.reward(key, points),
    block: (key, seconds) => limiter.block(key, `${seconds}s`),
    set: async (key, points) => {
      await limiter.reset(key);
      await limiter.penalty(key, points);
    },
    delete: async (key) => {
      await limiter.unblock(key);
      await limiter.reset(key);
    },
    consumeFor: async (key, seconds) => {
      await limiter.override(key, policy(seconds), { expiresIn: `${seconds}s` });
      return consume(key);
    },
  };
}

/** Runs a program with a limit. @returns the answers it gets */
async function program(limit: Limit): Promise<unknown[]> {
  const answers: unknown[] = [];
  const record = async (call: Promise<unknown>) => void answers.push(await call);
  for (let call = 0; call < POINTS + 2; call += 1) await record(limit.consume('a'));
  await record(limit.get('a'));
  await record(limit.get('new'));
  await record(limit.consume('b', 3));
  await limit.penalty('b', 1);
  await record(limit.get('b'));
  await limit.reward('b', 2);
  await record(limit.get('b'));
  await limit.block('c', 60);
  await record(limit.consume('c'));
  await limit.delete('c');
  await record(limit.consume('c'));
  await limit.set('d', 4);
  await record(limit.consume('d'));
  await record(limit.consume('d'));
  await record(limit.consumeFor('e', 60));
  await record(limit.consume('e'));
  return answers;
}

test('a program gets the same answers from both packages in memory', async () => {
  const before = await program(theirs(new RateLimiterMemory({ points: POINTS, duration: DURATION })));
  expect(await program(ours(memoryStore()))).toEqual(before);
});

const client = new Redis(redisUrl(), { ...recommendedRedisOptions, lazyConnect: true });
afterAll(() => client.disconnect());

test('a program gets the same answers from both packages in Redis', async () => {
  const keyPrefix = uniqueName('theirs');
  await client.connect();
  const before = await program(
    theirs(new RateLimiterRedis({ storeClient: client, keyPrefix, points: POINTS, duration: DURATION })),
  );
  expect(await program(ours(redisStore(client)))).toEqual(before);
});

test('RateLimiterUnion counts what it denies; a CombinedLimiter takes nothing', async () => {
  const options = { points: 1, duration: DURATION };
  const union = new RateLimiterUnion(
    new RateLimiterMemory({ ...options, points: 9, keyPrefix: 'large' }),
    new RateLimiterMemory({ ...options, keyPrefix: 'small' }),
  );
  await union.consume('k');
  await expect(union.consume('k')).rejects.toMatchObject({ small: expect.any(RateLimiterRes) });

  const store = memoryStore();
  const large = new RateLimiter({ name: 'large', policy: fixedWindow({ limit: 9, window: '1h' }), store });
  const small = new RateLimiter({ name: 'small', policy: fixedWindow({ limit: 1, window: '1h' }), store });
  const both = new CombinedLimiter({ large, small });
  await both.consume({ large: 'k', small: 'k' });
  expect(await both.consume({ large: 'k', small: 'k' })).toMatchObject({ allowed: false, policy: 'small' });
  expect(await large.peek('k')).toMatchObject({ remaining: 8 });
});
