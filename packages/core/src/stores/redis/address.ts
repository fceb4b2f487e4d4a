import type { RedisClient } from './client.js';
import { nameOf } from './nodes.js';
import type { OwnPlace, RedisAddress } from './redis-store-options.js';

/** The address of a store's own client, for messages: without user and password. */
export function addressOfPlace(place: OwnPlace): string {
  if ('url' in place) return bare(place.url);
  if ('sentinels' in place)
    return `'${place.name}' of the sentinels ${place.sentinels.map(({ host, port = 26379 }) => nameOf({ host, port })).join(', ')}`;
  return `the cluster ${listOf(place.cluster)}`;
}

/** The address of a client that was passed in, as far as its options tell. */
export function addressOfClient({ options = {}, isCluster = false }: RedisClient): string {
  const { url, path, name, host, port } = options;
  if (isCluster) return 'the Redis Cluster of the client';
  if (url !== undefined) return bare(url);
  if (name) return `'${name}' of the client's sentinels`;
  return path ?? nameOf({ host, port });
}

const listOf = (addresses: readonly (RedisAddress | string)[]): string =>
  addresses.map((address) => (typeof address === 'string' ? bare(address) : nameOf(address))).join(', ');

function bare(address: string): string {
  const { protocol, host, pathname } = new URL(address);
  return `${protocol}//${host}${pathname}`;
}
