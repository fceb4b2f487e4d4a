import { createRequire } from 'node:module';

const WEEK_MS = 7 * 86_400_000;
/** The limiter of koa-ratelimit's middleware; on Redis a log of the calls in a sorted set (async-ratelimiter). */
const require = createRequire(import.meta.url);
const limiters = { redis: 'koa-ratelimit/limiter/redis.js', memory: 'koa-ratelimit/limiter/memory.js' };

/** Like the middleware: one limiter object per call. It returns the permits left before the call; 0 denies. */
const create = (where, shared) => (limit, bench) => {
  const Limiter = require(limiters[where]);
  const options = { db: shared(bench), max: limit, duration: WEEK_MS, namespace: bench.prefix };
  return async (id) => (await new Limiter({ ...options, id }).get()).remaining > 0;
};

export const koa = [
  {
    id: 'koa-redis',
    name: 'koa-ratelimit',
    where: 'redis',
    create: create('redis', ({ open }) => open()),
  },
  {
    id: 'koa-memory',
    name: 'koa-ratelimit, memory',
    where: 'memory',
    storedKey: (key, prefix) => `${prefix}:${key}`,
    create: create('memory', () => new Map()),
  },
];
