import {
  concurrency,
  fixedWindow,
  gcra,
  leakyBucket,
  type Policy,
  RateLimiter,
  type Store,
  slidingLog,
  slidingWindow,
  tokenBucket,
} from '../../../packages/core/src/index.js';

/** The calls of one key, which leave something in Redis. */
export type Calls = (limiter: RateLimiter, policyOf: (permits: number) => Policy) => Promise<unknown>;

/** Every algorithm in each form of its state: 10 permits, and all of them back in an hour, or a slot later. */
export const policies: Readonly<Record<string, (permits: number) => Policy>> = {
  fixedWindow: (limit) => fixedWindow({ limit, window: '1h' }),
  'fixedWindow by the clock': (limit) => fixedWindow({ limit, window: '1h', align: 'clock' }),
  'fixedWindow of months': (limit) => fixedWindow({ limit, window: '1 month', timeZone: 'Europe/Berlin' }),
  slidingWindow: (limit) => slidingWindow({ limit, window: '1h' }),
  slidingLog: (limit) => slidingLog({ limit, window: '1h' }),
  tokenBucket: (n) => tokenBucket({ capacity: n, refill: n, every: '1h' }),
  'tokenBucket in batches': (n) =>
    tokenBucket({ capacity: n, refill: n / 2, every: '30m', mode: 'interval' }),
  'tokenBucket, half full': (n) => tokenBucket({ capacity: n, refill: n, every: '1h', initial: n / 2 }),
  gcra: (limit) => gcra({ limit, period: '1h' }),
  leakyBucket: (n) => leakyBucket({ capacity: n, leak: n, every: '1h' }),
  concurrency: (limit) => concurrency({ limit, lease: '1h' }),
};

const take: Calls = async (limiter) => {
  for (const cost of [1, 2, 1]) await limiter.consume('k', { cost });
};

const takeAll = async (limiter: RateLimiter) => {
  const { remaining } = await limiter.peek('k');
  await limiter.consume('k', { cost: remaining });
};

/** Calls that make a key hold each form of entry. */
export const histories: Readonly<Record<string, Calls>> = {
  '4 permits taken': take,
  'permits taken, two calls waiting': async (limiter, policyOf) => {
    // No call waits for a leaky bucket that is full.
    if (policyOf(10).algorithm === 'leakyBucket') await take(limiter, policyOf);
    else await takeAll(limiter);
    for (const cost of [1, 3]) void limiter.acquire('k', { cost }).catch(() => undefined);
    await limiter.peek('other');
  },
  '4 permits taken, blocked for an hour': async (limiter, policyOf) => {
    await take(limiter, policyOf);
    await limiter.block('k', '1h');
  },
  '4 permits taken, an override with twice the permits, one more taken': async (limiter, policyOf) => {
    await take(limiter, policyOf);
    await limiter.override('k', policyOf(20), { expiresIn: '45m' });
    await limiter.consume('k');
  },
  'all permits taken, two of three denials before a block': async (limiter) => {
    await takeAll(limiter);
    for (let i = 0; i < 2; i += 1) await limiter.consume('k');
  },
  'all permits taken, blocked by the third denial': async (limiter) => {
    await takeAll(limiter);
    for (let i = 0; i < 3; i += 1) await limiter.consume('k');
  },
};

export const limiterOn = (store: Store, name: string, policy: Policy): RateLimiter =>
  new RateLimiter({
    ...{ name, policy, store, deadline: '30s', margin: 0 },
    escalate: { after: 3, within: '1h', block: ['90m', '1d'] },
  });
