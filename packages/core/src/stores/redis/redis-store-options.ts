import type { ConnectionOptions } from 'node:tls';
import { checkOptions, describe } from '../../options.js';
import type { RedisClient } from './client.js';
import type { NodeRedisClient } from './node-redis.js';

/** A server, or one of many that tell of the others. */
export interface RedisAddress {
  readonly host: string;
  /** Default 6379, of a sentinel 26379. */
  readonly port?: number;
}

/** What the store's own client needs, wherever its servers are. */
interface OwnClientOptions {
  /** Of an ACL user; without it a `password` is that of the default user. */
  readonly username?: string;
  readonly password?: string;
  /**
   * `true`, or what `tls.connect` of Node takes, such as `{ ca }`. A `rediss://` address has it already. With `sentinels` it holds for the
   * servers and for the sentinels.
   */
  readonly tls?: boolean | ConnectionOptions;
  /**
   * What else ioredis takes: of its `Redis`, such as `db`, `keyPrefix`, `family`, `natMap`, `sentinelUsername`, `sentinelPassword`; with
   * `cluster` of its `Cluster`, such as `natMap`, `dnsLookup`, `keyPrefix`. What makes a call count at most once, such as `maxRetriesPerRequest`, is
   * the store's to set: to name it here is a `TypeError`.
   */
  readonly options?: Readonly<Record<string, unknown>>;
}

/** One server, or one address behind which there is always one. */
export interface RedisServerOptions extends OwnClientOptions {
  /** `redis://` or `rediss://`, also `valkey://` and `valkeys://`: `redis://user:password@host:6379/0`. */
  readonly url: string;
}

/** The server that sentinels call the primary. The store follows them to the next one. */
export interface RedisSentinelOptions extends OwnClientOptions {
  /** Some of them are enough: they tell of the others. */
  readonly sentinels: readonly RedisAddress[];
  /** What the sentinels call the primary, as in `sentinel monitor mymaster …`. */
  readonly name: string;
}

/** A Redis Cluster. */
export interface RedisClusterOptions extends OwnClientOptions {
  /** Some of its nodes are enough: they tell of the others. Addresses may be written as `redis://host:6379`, too. */
  readonly cluster: readonly (RedisAddress | string)[];
}

/** A client of yours, which stays yours to close. */
export interface RedisClientOptions {
  readonly client: RedisClient | NodeRedisClient;
}

/** Where the store finds Redis: by one of `url`, `sentinels`, `cluster` and `client`. */
export type RedisStoreOptions =
  | RedisServerOptions
  | RedisSentinelOptions
  | RedisClusterOptions
  | RedisClientOptions;

/** A place in which the store makes a client of its own. */
export type OwnPlace = Exclude<RedisStoreOptions, RedisClientOptions>;

const OWN = ['username', 'password', 'tls', 'options'];
const PLACES: Readonly<Record<string, readonly string[]>> = {
  url: ['url', ...OWN],
  sentinels: ['sentinels', 'name', ...OWN],
  cluster: ['cluster', ...OWN],
  client: ['client'],
};

/** A call is counted at most once, never late and where it should be because of these. */
const OURS: readonly string[] = [
  'enableOfflineQueue',
  'maxRetriesPerRequest',
  'autoResendUnfulfilledCommands',
  'reconnectOnError',
  'commandTimeout',
  'socketTimeout',
  'lazyConnect',
  'enableAutoPipelining',
  'stringNumbers',
  'readOnly',
  'role',
  'scaleReads',
  'failoverDetector',
  'clusterNodeRetryStrategy',
  'retryDelayOnFailover',
  'retryDelayOnTryAgain',
  'retryDelayOnClusterDown',
];
const BESIDE: readonly string[] = ['host', 'port', 'sentinels', 'name', 'username', 'password', 'tls'];

/** @throws TypeError when it is not options of `redisStore` */
export function checkStoreOptions(options: RedisStoreOptions): RedisStoreOptions {
  const given = Object.keys(PLACES).filter(
    (place) => (options as unknown as Record<string, unknown>)[place] !== undefined,
  );
  if (given.length !== 1)
    throw new TypeError(
      `redisStore takes an address, a client, or options with one of url, sentinels, cluster and client, not ${given.join(' and ') || 'an object with none of them'}`,
    );
  checkOptions('redisStore', options, PLACES[given[0]!]!);
  if ('client' in options) return options;
  if ('url' in options) checkUrl(options.url);
  if ('sentinels' in options) {
    checkAddresses('sentinels', options.sentinels);
    if (typeof options.name !== 'string' || options.name === '') {
      throw new TypeError(
        `redisStore: name must be what the sentinels call the primary, such as 'mymaster', not ${describe(options.name)}`,
      );
    }
  }
  if ('cluster' in options) checkAddresses('cluster', options.cluster, true);
  checkClientOptions('options', options.options);
  checkClientOptions('options.redisOptions', options.options?.redisOptions);
  return options;
}

/** @throws TypeError */
export function checkUrl(url: unknown): string {
  if (typeof url !== 'string' || !/^(?:rediss?|valkeys?):\/\//.test(url) || !URL.canParse(url)) {
    throw new TypeError(
      `redisStore takes an address such as 'redis://127.0.0.1:6379', a client of ioredis or node-redis, or options, not ${describe(withoutPassword(url))}`,
    );
  }
  const { pathname, searchParams } = new URL(url);
  if (!/^\/?\d*$/.test(pathname)) {
    throw new TypeError(
      `redisStore: the path of an address is a database number, as in redis://127.0.0.1:6379/0, not ${describe(pathname)}`,
    );
  }
  checkClientOptions('the query of the address', Object.fromEntries(searchParams));
  return url;
}

/** Errors are logged. */
const withoutPassword = (url: unknown): unknown =>
  typeof url === 'string' ? url.replace(/^.*@/s, '…@') : url;

function checkAddresses(what: string, addresses: unknown, orUrls = false): void {
  const isAddress = (address: unknown) =>
    (orUrls && typeof address === 'string' && URL.canParse(address)) ||
    typeof (address as RedisAddress | null)?.host === 'string';
  if (Array.isArray(addresses) && addresses.length > 0 && addresses.every(isAddress)) return;
  throw new TypeError(
    `redisStore: ${what} must be a list of { host, port }, not ${describe(withoutPassword(addresses))}`,
  );
}

function checkClientOptions(where: string, options: unknown): void {
  if (options === undefined) return;
  if (typeof options !== 'object' || options === null) {
    throw new TypeError(
      `redisStore: ${where} must be an object of ioredis's options, not ${describe(options)}`,
    );
  }
  const { db = 0 } = options as { db?: unknown };
  if (!(typeof db === 'string' ? /^\d+$/.test(db) : Number.isInteger(db) && Number(db) >= 0)) {
    throw new TypeError(`redisStore: ${where} needs a whole number ≥ 0 as db, not ${describe(db)}`);
  }
  for (const name of Object.keys(options)) {
    if (BESIDE.includes(name))
      throw new TypeError(`redisStore: '${name}' stands beside options, not in ${where}`);
    if (!OURS.includes(name)) continue;
    throw new TypeError(
      `redisStore: ${where} cannot set '${name}': the store sets it, so that a call is counted once. A client of your own may have it: redisStore(client)`,
    );
  }
}
