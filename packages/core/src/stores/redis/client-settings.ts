import type { ConnectionOptions } from 'node:tls';
import { performance } from '#platform';
import { warnOnce } from '../../warnings.js';
import type { RedisClient } from './client.js';
import type {
  OwnServer,
  RedisClusterOptions,
  RedisSentinelOptions,
  RedisServerOptions,
} from './redis-store-options.js';

/** First and longest pause before a lost connection is opened again, ms; up to half of each is random. */
const [FIRST_PAUSE, LONGEST_PAUSE] = [50, 1_000];

function retryStrategy(attempt: number): number {
  const pause = Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (attempt - 1));
  return Math.round(pause * (0.5 + Math.random() / 2));
}

/** ms within which all answers of one connection arrive. */
const ONE_CONNECTION = 100;
/** When a client last reconnected, by its options. */
const reconnectedAt = new WeakMap<object, number>();

/**
 * A server that refuses writes has become a replica: a new connection finds the new primary. Returns 1, because 2 would send the call
 * again. Once for each connection: ioredis would end it again with each answer under way, and add a listener each time.
 */
function reconnectOnError(this: unknown, error: Error): 1 | false {
  if (!/^(?!SLUICE).*\bREADONLY\b/.test(error.message)) return false;
  if (typeof this !== 'object' || this === null) return 1;
  const now = performance.now();
  if (now - (reconnectedAt.get(this) ?? Number.NEGATIVE_INFINITY) < ONE_CONNECTION) return false;
  reconnectedAt.set(this, now);
  return 1;
}

const ofEachConnection = {
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
  connectTimeout: 1000,
  socketTimeout: 1000,
} as const;

/**
 * Settings for a client that sends each call at most once and never late: it keeps no call for a server that is out, sends none again
 * whose reply was lost, and reconnects within a second. `redisStore(url)` uses them; also give them to your own `Redis` of ioredis or
 * iovalkey.
 */
export const recommendedRedisOptions = {
  enableOfflineQueue: false,
  ...ofEachConnection,
  retryStrategy,
  reconnectOnError,
} as const;

/**
 * The same for a `Cluster`. It keeps its `enableOfflineQueue`: it connects to a node at the first call for it, and would refuse the calls
 * until then. A call that a node refuses while a slot moves (`TRYAGAIN`) is sent again within the usual deadline, and not after it.
 */
export const recommendedClusterOptions = {
  retryDelayOnFailover: 0,
  retryDelayOnTryAgain: 5,
  retryDelayOnClusterDown: 0,
  slotsRefreshTimeout: 500,
  slotsRefreshInterval: 5_000,
  redisOptions: ofEachConnection,
} as const;

const ofOwnConnection = {
  connectionName: 'sluice',
  /** How long ioredis waits for the end of a connection, ms. It waits even after the end, and keeps the process alive. */
  disconnectTimeout: 100,
} as const;

/** Arguments of `Redis` for one server. */
export function serverOptions(server: RedisServerOptions): [address: string, options: object] {
  return [addressOf(server), { ...settingsOf(server), ...credentials(server) }];
}

export function sentinelOptions(server: RedisSentinelOptions): object {
  const { sentinels, name, tls } = server;
  return {
    // After a failover it leaves the old primary, which may still take writes that are lost.
    failoverDetector: true,
    ...(tls && { enableTLSForSentinelMode: true, sentinelTLS: tlsOf(tls) }),
    ...settingsOf(server),
    ...credentials(server),
    sentinels: [...sentinels],
    name,
  };
}

export function clusterOptions(server: RedisClusterOptions): object {
  const { options = {}, tls } = server;
  return {
    // A certificate names a host, which must not be resolved before it is compared.
    ...(tls && { dnsLookup: (name: string, found: (_: null, address: string) => void) => found(null, name) }),
    ...recommendedClusterOptions,
    lazyConnect: true,
    ...options,
    redisOptions: {
      ...ofOwnConnection,
      ...ofEachConnection,
      ...(options.redisOptions as object | undefined),
      ...credentials(server),
    },
  };
}

/** `checkStoreOptions` has refused options that must not be changed. */
const settingsOf = ({ options }: OwnServer): object => ({
  ...ofOwnConnection,
  ...recommendedRedisOptions,
  lazyConnect: true,
  ...options,
});

const credentials = ({ username, password, tls }: OwnServer): object => ({
  ...(username !== undefined && { username }),
  ...(password !== undefined && { password }),
  ...(tls && { tls: tlsOf(tls) }),
});

const tlsOf = (tls: boolean | ConnectionOptions): ConnectionOptions => (typeof tls === 'object' ? tls : {});

/** ioredis knows only the schemes of Redis, and would prefer the password of the address to the one in `options`. */
function addressOf({ url, username, password }: RedisServerOptions): string {
  const address = new URL(url.replace(/^valkey:/, 'redis:').replace(/^valkeys:/, 'rediss:'));
  if (username !== undefined) address.username = encodeURIComponent(username);
  if (password !== undefined) address.password = encodeURIComponent(password);
  return address.href;
}

/** Warns when a client of the user resends a call whose reply was lost: it may have counted the first time. */
export function warnOfResending({ isCluster, options = {} }: RedisClient): void {
  const { autoResendUnfulfilledCommands, maxRetriesPerRequest, retryDelayOnFailover = 0 } = options;
  const resends = isCluster
    ? retryDelayOnFailover > 0
    : autoResendUnfulfilledCommands === true && maxRetriesPerRequest !== 0;
  if (!resends) return;
  const settings = isCluster ? 'recommendedClusterOptions' : 'recommendedRedisOptions';
  warnOnce(
    'SLUICE_CLIENT_RESENDS',
    settings,
    `redisStore: this client resends a call when its connection is lost before the reply, so one call can count twice: create the client with ${settings} of @sluice/core`,
  );
}

/** Warns when the server evicts keys to make room: evicted limits start again. */
export async function warnOfEviction(client: RedisClient): Promise<void> {
  let memory: string;
  try {
    memory = String(await client.info?.('memory'));
  } catch {
    return; // not permitted, or no connection any more: no decision depends on this
  }
  const policy = /^maxmemory_policy:(\S+)/m.exec(memory)?.[1] ?? 'noeviction';
  const bounded = /^maxmemory:[1-9]/m.test(memory);
  if (policy === 'noeviction' || !bounded) return;
  warnOnce(
    'SLUICE_EVICTION',
    policy,
    `redisStore: this Redis evicts keys when its memory is full (maxmemory-policy ${policy}), and an evicted key gets its whole limit again: set maxmemory-policy to noeviction`,
  );
}

/**
 * Warns when a cluster refuses keys that are not declared: each slot gets its own script call.
 * @param refusal the server's error
 */
export function warnOfDeclaredKeys(address: string, refusal: string): void {
  warnOnce(
    'SLUICE_DECLARED_KEYS',
    address,
    `redisStore: ${address} refuses a script call for keys of several slots (${refusal}), as proxies and serverless clusters do. ` +
      'Limits stay exact, but each slot gets a script call of its own, which costs more time and CPU: connect to the nodes of the ' +
      'cluster directly, or give each limiter a hashTag',
  );
}

/** Warns when the server decides calls, but refuses what this process publishes about its limiters. */
export function warnOfRefusedBoard(address: string, refusal: unknown): void {
  warnOnce(
    'SLUICE_FLEET_REFUSED',
    address,
    `redisStore: ${address} refuses what this process tells other processes about its limiters (${(refusal as Error).message}). ` +
      'Decisions are not affected, but readUsage and the command sluice cannot see this process: give the user the rights of docs/operations.md, ' +
      'or turn it off with redisStore({ …, definitions: false, usage: false })',
  );
}
