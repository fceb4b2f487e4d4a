import type { ConnectionOptions } from 'node:tls';
import type {
  OwnPlace,
  RedisClusterOptions,
  RedisSentinelOptions,
  RedisServerOptions,
} from './redis-store-options.js';
import { recommendedClusterOptions, recommendedRedisOptions } from './settings.js';

const NAME = 'sluice';
/** ioredis waits so long for the end of a connection, also for one that has ended before, and keeps the process alive. */
const DISCONNECT_MS = 100;

/** Ours come last where they are not to be changed; `checkStoreOptions` tells who tries. */
function settingsOf({ options }: OwnPlace): object {
  return {
    connectionName: NAME,
    disconnectTimeout: DISCONNECT_MS,
    ...recommendedRedisOptions,
    lazyConnect: true,
    ...options,
  };
}

function credentials({ username, password, tls }: OwnPlace): object {
  return {
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(tls !== undefined && tls !== false && { tls: tlsOf(tls) }),
  };
}

const tlsOf = (tls: boolean | ConnectionOptions): ConnectionOptions => (typeof tls === 'object' ? tls : {});

/** ioredis knows the old scheme only; and of two passwords it would take that of the address. */
function addressOf({ url, username, password }: RedisServerOptions): string {
  const address = new URL(url.replace(/^valkey:/, 'redis:').replace(/^valkeys:/, 'rediss:'));
  if (username !== undefined) address.username = encodeURIComponent(username);
  if (password !== undefined) address.password = encodeURIComponent(password);
  return address.href;
}

export function serverOptions(place: RedisServerOptions): [address: string, options: object] {
  return [addressOf(place), { ...settingsOf(place), ...credentials(place) }];
}

export function sentinelOptions(place: RedisSentinelOptions): object {
  const { sentinels, name, tls } = place;
  return {
    // Told of a failover it leaves the old primary, which may still take writes that nobody will see.
    failoverDetector: true,
    ...(tls !== undefined && tls !== false && { enableTLSForSentinelMode: true, sentinelTLS: tlsOf(tls) }),
    ...settingsOf(place),
    ...credentials(place),
    sentinels: [...sentinels],
    name,
  };
}

export function clusterOptions(place: RedisClusterOptions): object {
  const { options = {}, tls } = place;
  const ofNode = recommendedClusterOptions.redisOptions;
  return {
    // A certificate is for a name, which must not be looked up before it is compared.
    ...(tls !== undefined && tls !== false && { dnsLookup: sameName }),
    ...recommendedClusterOptions,
    lazyConnect: true,
    ...options,
    redisOptions: {
      connectionName: NAME,
      disconnectTimeout: DISCONNECT_MS,
      ...ofNode,
      ...(options.redisOptions as object | undefined),
      ...credentials(place),
    },
  };
}

const sameName = (name: string, found: (error: null, address: string) => void): void => found(null, name);
