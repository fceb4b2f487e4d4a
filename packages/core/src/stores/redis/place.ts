import { describe } from '../../options.js';
import type { RedisClient } from './client.js';
import { OwnConnection } from './connection.js';
import { adaptNodeRedis, isNodeRedis, type NodeRedisClient } from './node-redis.js';
import { checkStoreOptions, checkUrl, type RedisStoreOptions } from './redis-store-options.js';

/**
 * What `redisStore` was given: a client to be used, or how to make one.
 * @throws TypeError when it is neither
 */
export function placeOf(
  redis: string | RedisClient | NodeRedisClient | RedisStoreOptions,
): RedisClient | OwnConnection {
  if (typeof redis === 'string') return new OwnConnection({ url: checkUrl(redis) });
  if (isNodeRedis(redis)) return adaptNodeRedis(redis);
  if (isClient(redis)) return redis;
  if (typeof redis !== 'object' || redis === null) throw new TypeError(`${TAKES}, not ${describe(redis)}`);
  const options = checkStoreOptions(redis as RedisStoreOptions);
  return 'client' in options ? clientOf(options.client) : new OwnConnection(options);
}

function clientOf(client: RedisClient | NodeRedisClient): RedisClient {
  if (isNodeRedis(client)) return adaptNodeRedis(client);
  if (isClient(client)) return client;
  throw new TypeError(`${TAKES}; its client is ${describe(client)}`);
}

const isClient = (client: unknown): client is RedisClient => {
  const { evalsha, eval: run } = (client ?? {}) as Partial<RedisClient>;
  return typeof evalsha === 'function' && typeof run === 'function';
};

const TAKES =
  "redisStore takes an address such as 'redis://127.0.0.1:6379', a client of ioredis or node-redis, or options";
