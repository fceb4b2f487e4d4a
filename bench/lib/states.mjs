import {
  concurrency,
  fixedWindow,
  gcra,
  leakyBucket,
  slidingLog,
  slidingWindow,
  tokenBucket,
} from '@sluice/core';

const bucket = (capacity) => tokenBucket({ capacity, refill: capacity, every: '1h' });
const log = (limit) => slidingLog({ limit, window: '1h' });

/** Calls until a key has this many entries. */
const consume = (entries = 1) => ({
  entries,
  fill: async (limiter, key) => {
    for (let i = 0; i < entries; i += 1) await limiter.consume(key);
  },
});

/** States of a key: a policy, and the calls that lead to the state. */
export const states = [
  { name: 'fixedWindow', policy: fixedWindow({ limit: 1000, window: '1h' }), ...consume() },
  { name: 'tokenBucket', policy: bucket(1000), ...consume() },
  { name: 'gcra', policy: gcra({ limit: 1000, period: '1h' }), ...consume() },
  {
    name: 'leakyBucket',
    policy: leakyBucket({ capacity: 1000, leak: 1000, every: '1h' }),
    ...consume(),
  },
  {
    name: 'slidingWindow, 1 slot in use',
    policy: slidingWindow({ limit: 1000, window: '1h' }),
    ...consume(),
  },
  { name: 'slidingLog, 1 call in the window', policy: log(1000), ...consume() },
  { name: 'slidingLog, 10 calls', policy: log(1000), ...consume(10) },
  { name: 'slidingLog, 100 calls', policy: log(1000), ...consume(100) },
  { name: 'concurrency, 1 holder', policy: concurrency({ limit: 100, lease: '1h' }), ...consume() },
  { name: 'concurrency, 10 holders', policy: concurrency({ limit: 100, lease: '1h' }), ...consume(10) },
  {
    name: 'tokenBucket, blocked',
    policy: bucket(1000),
    fill: async (limiter, key) => {
      await limiter.consume(key);
      await limiter.block(key, '1h');
    },
  },
  {
    name: 'tokenBucket, overridden',
    policy: bucket(1000),
    fill: async (limiter, key) => {
      await limiter.consume(key);
      await limiter.override(key, bucket(2000), { expiresIn: '1h' });
    },
  },
];

const HUGE = 10_000;
const SMALL = 10;

/** Calls of existing keys, which all get the same answer. After `used` calls a key is used up. */
export const decisions = [
  ['fixedWindow', (limit) => fixedWindow({ limit, window: '1h' })],
  ['tokenBucket', bucket],
  ['gcra', (limit) => gcra({ limit, period: '1h' })],
  ['leakyBucket', (limit) => leakyBucket({ capacity: limit, leak: limit, every: '1h' })],
  ['slidingWindow', (limit) => slidingWindow({ limit, window: '1h' })],
  ['slidingLog, up to 45 calls in the window', log],
  ['concurrency, up to 45 holders', (limit) => concurrency({ limit, lease: '1h' })],
  ['fixedWindow and tokenBucket in one', (limit) => [fixedWindow({ limit, window: '1h' }), bucket(limit)]],
].map(([name, policyOf]) => ({ name, allowed: policyOf(HUGE), denied: policyOf(SMALL), used: SMALL }));
