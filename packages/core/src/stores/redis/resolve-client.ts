import { checkNodeVersion } from '../../node-version.js';
import type { RedisClient } from './client.js';
import { nameOf } from './cluster.js';
import { OwnConnection } from './connection.js';
import { adaptNodeRedis, isNodeRedis, type NodeRedisClient } from './node-redis.js';
import {
  checkStoreOptions,
  checkUrl,
  notTaken,
  type OwnServer,
  type RedisStoreOptions,
} from './redis-store-options.js';

/**
 * The client that `redisStore` was given, or a connection of its own.
 * @throws TypeError when it was given neither a client nor an address, or a client of ioredis 4
 */
export function resolveClient(
  redis: string | RedisClient | NodeRedisClient | RedisStoreOptions,
): RedisClient | OwnConnection {
  checkNodeVersion('redisStore');
  if (typeof redis === 'string') return new OwnConnection({ url: checkUrl(redis) });
  const client = clientOf(redis);
  if (client !== undefined) return client;
  if (typeof redis !== 'object' || redis === null) throw notTaken(redis);
  const options = checkStoreOptions(redis as RedisStoreOptions);
  if (!('client' in options)) return new OwnConnection(options);
  const given = clientOf(options.client);
  if (given === undefined) throw notTaken(options.client);
  return given;
}

function clientOf(client: unknown): RedisClient | undefined {
  if (isNodeRedis(client)) return adaptNodeRedis(client);
  const { evalsha, eval: run } = (client ?? {}) as Partial<RedisClient>;
  if (typeof evalsha !== 'function' || typeof run !== 'function') return undefined;
  const { options } = client as { options?: object };
  // The options that only ioredis up to version 4 has, of a server and of a cluster.
  if (options !== undefined && ('dropBufferSupport' in options || 'maxScriptsCachingTime' in options))
    throw new TypeError(
      'redisStore takes clients of ioredis 5 and 6, not of ioredis 4: npm install ioredis@latest',
    );
  return client as RedisClient;
}

/** The address of a store's own client, for messages: without user and password. */
export function addressOfServer(server: OwnServer): string {
  if ('url' in server) return withoutCredentials(server.url);
  if ('sentinels' in server) {
    const sentinels = server.sentinels.map(({ host, port = 26379 }) => nameOf({ host, port }));
    return `'${server.name}' of the sentinels ${sentinels.join(', ')}`;
  }
  const nodes = server.cluster.map((node) =>
    typeof node === 'string' ? withoutCredentials(node) : nameOf(node),
  );
  return `the cluster ${nodes.join(', ')}`;
}

/** The address of a client that was passed in, as far as its options show it. */
export function addressOfClient({ options = {}, isCluster = false }: RedisClient): string {
  const { url, path, name, host, port } = options;
  if (isCluster) return 'the Redis Cluster of the client';
  if (url !== undefined) return withoutCredentials(url);
  if (name) return `'${name}' of the client's sentinels`;
  return path ?? nameOf({ host, port });
}

function withoutCredentials(address: string): string {
  const { protocol, host, pathname } = new URL(address);
  return `${protocol}//${host}${pathname}`;
}
