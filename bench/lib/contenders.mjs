import {
  fixedWindow,
  memoryStore,
  RateLimiter,
  recommendedRedisOptions,
  redisStore,
  tokenBucket,
} from '@sluice/core';
import { Redis } from 'ioredis';
import { RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible';

/**
 * Who is measured. Each `decide(key)` resolves to whether the call may go, which is true for every call here but those of
 * `denied`, whose limit is used up. All have clients of their own.
 */
export function contenders(url, prefix) {
  const opened = [];
  const open = (options = {}) => {
    const client = new Redis(url, options);
    opened.push(client);
    return client;
  };
  const ours = (name, store, policy, where) => {
    const limiter = new RateLimiter({ name, keyPrefix: prefix, policy, store, deadline: '30s' });
    return {
      name: `sluice ${policy.algorithm}`,
      where,
      decide: async (key) => (await limiter.consume(key)).allowed,
    };
  };
  const flexible = (limiter, where) => ({
    name: 'rate-limiter-flexible',
    where,
    decide: (key) => limiter.consume(key).then(...verdicts),
  });
  const many = 1_000_000_000;
  const window = fixedWindow({ limit: many, window: '1h' });
  const bucket = tokenBucket({ capacity: 100_000_000, refill: 1, every: '1s' });
  const store = redisStore(open(recommendedRedisOptions));
  const incr = open();
  const options = { points: many, duration: 3600 };

  return {
    list: [
      ours('fw', memoryStore(), window, 'memory'),
      ours('tb', memoryStore(), bucket, 'memory'),
      flexible(new RateLimiterMemory({ ...options, keyPrefix: prefix }), 'memory'),
      ours('fw', store, window, 'redis'),
      ours('tb', store, bucket, 'redis'),
      flexible(
        new RateLimiterRedis({ ...options, storeClient: open(), keyPrefix: `${prefix}:rlf` }),
        'redis',
      ),
      {
        name: 'plain INCR (no limiter)',
        where: 'redis',
        decide: async (key) => (await incr.incr(`${prefix}:incr:${key}`)) > 0,
      },
    ],
    denied: [
      ours('denied', store, fixedWindow({ limit: 1, window: '1h' }), 'redis'),
      flexible(
        new RateLimiterRedis({ points: 1, duration: 3600, storeClient: open(), keyPrefix: `${prefix}:den` }),
        'redis',
      ),
    ],
    close: () => {
      for (const client of opened) client.disconnect();
    },
  };
}

/** It rejects with its answer when it denies, and with an Error when it could not ask. */
const verdicts = [
  () => true,
  (answer) => {
    if (answer instanceof Error) throw answer;
    return false;
  },
];
