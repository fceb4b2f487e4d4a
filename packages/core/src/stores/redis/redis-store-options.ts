import type { ConnectionOptions } from 'node:tls';
import type { UsageOptions } from '../../board/watching.js';
import { checkBoolean, checkOptions, describe } from '../../options.js';
import type { RedisClient } from './client.js';
import type { NodeRedisClient } from './node-redis.js';

/** A server, or one of several that know the others. */
export interface RedisAddress {
  readonly host: string;
  /** Default 6379, of a sentinel 26379. */
  readonly port?: number;
}

/** Options of every store. */
interface CommonOptions {
  /**
   * Publish the limiters of this process in Redis, so that the command `sluice` knows them by name? Default `true`. Off the request path:
   * one small key for each process, from its first decision on, each minute.
   */
  readonly definitions?: boolean;
  /**
   * Counts the keys that were denied most, and that took most, for `limiter.topKeys()`. Each process tells the others every 10 s, for
   * `readUsage(store)`. Default `false`.
   */
  readonly usage?: boolean | UsageOptions | undefined;
  /**
   * Sends the denials of this process to `sluice tail` and the live page, while one of them is open. Every two seconds it reads from Redis
   * whether there is a reader, and every ten seconds without calls. Needs `definitions`. Default `false`.
   */
  readonly denials?: boolean | undefined;
}

/** Options of the store's own client. */
interface OwnClientOptions extends CommonOptions {
  /** Name of an ACL user; without it `password` is the default user's. */
  readonly username?: string;
  readonly password?: string;
  /**
   * `true`, or options of Node's `tls.connect`, such as `{ ca }`. A `rediss://` address implies it. With `sentinels` it applies to the
   * servers and to the sentinels.
   */
  readonly tls?: boolean | ConnectionOptions;
  /**
   * Further options of ioredis: of its `Redis`, such as `db`, `keyPrefix`, `family`, `natMap`, `sentinelUsername`, `sentinelPassword`; with
   * `cluster` of its `Cluster`, such as `natMap`, `dnsLookup`, `keyPrefix`. The store itself sets those that make a call count at most
   * once, such as `maxRetriesPerRequest`: one of them here is a `TypeError`.
   */
  readonly options?: Readonly<Record<string, unknown>>;
}

/** One server, or one address that always leads to one. */
export interface RedisServerOptions extends OwnClientOptions {
  /** `redis://` or `rediss://`, also `valkey://` and `valkeys://`: `redis://user:password@host:6379/0`. */
  readonly url: string;
}

/** The primary that sentinels name. The store follows a failover to the next one. */
export interface RedisSentinelOptions extends OwnClientOptions {
  /** Some of them are enough: they know the others. */
  readonly sentinels: readonly RedisAddress[];
  /** The sentinels' name of the primary, as in `sentinel monitor mymaster …`. */
  readonly name: string;
}

/** A Redis Cluster. */
export interface RedisClusterOptions extends OwnClientOptions {
  /** Some of its nodes are enough: they know the others. An address may also be text, `redis://host:6379`. */
  readonly cluster: readonly (RedisAddress | string)[];
}

/** Your own client. The store does not close it. */
export interface RedisClientOptions extends CommonOptions {
  readonly client: RedisClient | NodeRedisClient;
}

/** Where Redis is: one of `url`, `sentinels`, `cluster` and `client`. */
export type RedisStoreOptions =
  | RedisServerOptions
  | RedisSentinelOptions
  | RedisClusterOptions
  | RedisClientOptions;

/** Servers for which the store creates its own client. */
export type OwnServer = Exclude<RedisStoreOptions, RedisClientOptions>;

const COMMON = ['definitions', 'usage', 'denials'];
const OWN_CLIENT = ['username', 'password', 'tls', 'options', ...COMMON];
const ACCEPTED: Readonly<Record<string, readonly string[]>> = {
  url: ['url', ...OWN_CLIENT],
  sentinels: ['sentinels', 'name', ...OWN_CLIENT],
  cluster: ['cluster', ...OWN_CLIENT],
  client: ['client', ...COMMON],
};

/** ioredis options that the store sets: they make each call count at most once, in time, and in the right place. */
const FIXED: readonly string[] = [
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
/** These are options of the store itself. */
const OWN: readonly string[] = ['host', 'port', 'sentinels', 'name', 'username', 'password', 'tls'];

/** @throws TypeError for wrong options of `redisStore` */
export function checkStoreOptions(options: RedisStoreOptions): RedisStoreOptions {
  const given = Object.keys(ACCEPTED).filter(
    (name) => options[name as keyof RedisStoreOptions] !== undefined,
  );
  if (given.length !== 1)
    throw new TypeError(
      `redisStore takes an address, a client, or options with one of url, sentinels, cluster and client, not ${given.join(' and ') || 'an object with none of them'}` +
        ('host' in options || 'port' in options ? ": pass url: 'redis://user:password@host:6379/0'" : ''),
    );
  checkOptions('redisStore', options, ACCEPTED[given[0]!]!);
  checkBoolean('redisStore: definitions', options.definitions ?? true);
  checkBoolean('redisStore: denials', options.denials ?? false);
  if ('client' in options) return options;
  if ('url' in options) checkUrl(options.url);
  if ('sentinels' in options) {
    checkAddresses('sentinels', options.sentinels);
    if (typeof options.name !== 'string' || options.name === '')
      throw wrong(
        `name must be the sentinels' name of the primary, such as 'mymaster', not ${describe(options.name)}`,
      );
  }
  if ('cluster' in options) checkAddresses('cluster', options.cluster, true);
  checkClientOptions('options', options.options);
  checkClientOptions('options.redisOptions', options.options?.redisOptions);
  return options;
}

export function checkUrl(url: unknown): string {
  if (typeof url !== 'string' || !/^(?:rediss?|valkeys?):\/\//.test(url) || !URL.canParse(url))
    throw notTaken(withoutPassword(url));
  const { pathname, searchParams } = new URL(url);
  if (!/^\/?\d*$/.test(pathname))
    throw wrong(
      `the path of an address is a database number, as in redis://127.0.0.1:6379/0, not ${describe(pathname)}`,
    );
  checkClientOptions('the query of the address', Object.fromEntries(searchParams));
  return url;
}

const wrong = (message: string): TypeError => new TypeError(`redisStore: ${message}`);

export const notTaken = (value: unknown): TypeError =>
  new TypeError(
    `redisStore takes an address such as 'redis://127.0.0.1:6379', a client of ioredis or node-redis, or options, not ${describe(value)}`,
  );

/** For error messages, which are logged. */
const withoutPassword = (url: unknown): unknown =>
  typeof url === 'string' ? url.replace(/^.*@/s, '…@') : url;

function checkAddresses(what: string, addresses: unknown, orUrls = false): void {
  const isAddress = (address: unknown) =>
    (orUrls && typeof address === 'string' && URL.canParse(address)) ||
    typeof (address as RedisAddress | null)?.host === 'string';
  if (Array.isArray(addresses) && addresses.length > 0 && addresses.every(isAddress)) return;
  throw wrong(`${what} must be a list of { host, port }, not ${describe(withoutPassword(addresses))}`);
}

function checkClientOptions(where: string, options: unknown): void {
  if (options === undefined) return;
  if (typeof options !== 'object' || options === null)
    throw wrong(`${where} must be an object of ioredis's options, not ${describe(options)}`);
  const { db = 0 } = options as { db?: unknown };
  if (!(typeof db === 'string' ? /^\d+$/.test(db) : Number.isInteger(db) && Number(db) >= 0))
    throw wrong(`${where} needs a whole number ≥ 0 as db, not ${describe(db)}`);
  for (const name of Object.keys(options)) {
    if (OWN.includes(name)) throw wrong(`'${name}' is an option of redisStore itself, not of ${where}`);
    if (FIXED.includes(name))
      throw wrong(
        `${where} cannot set '${name}': the store sets it, so that a call is counted once. To set it, pass a client of your own: redisStore(client)`,
      );
  }
}
