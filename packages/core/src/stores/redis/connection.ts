import { ioredis } from '#platform';
import { LONGEST_TIMER } from '../../clock.js';
import { StoreConfigurationError } from '../../errors.js';
import { checkNodeVersion, clearTimeout, setTimeout } from '../../runtime.js';
import type { RedisClient } from './client.js';
import {
  clusterOptions,
  recommendedRedisOptions,
  sentinelOptions,
  serverOptions,
} from './client-settings.js';
import { nameOf } from './cluster.js';
import { isSelectError } from './errors.js';
import { adaptNodeRedis, isNodeRedis, isSentinelOfNodeRedis, type NodeRedisClient } from './node-redis.js';
import {
  checkStoreOptions,
  checkUrl,
  notTaken,
  type OwnServer,
  type RedisStoreOptions,
} from './redis-store-options.js';

/**
 * The client that `redisStore` was given, or a connection of its own.
 * @throws TypeError when it was given neither a client nor an address, a client of ioredis 4, or one of `createSentinel()`
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
  if (isNodeRedis(client)) {
    if (!isSentinelOfNodeRedis(client)) return adaptNodeRedis(client);
    throw new TypeError(
      'redisStore takes no client of createSentinel(): such a client sends calls again after a failover, so one call can count twice. ' +
        "Pass the sentinels instead: redisStore({ sentinels: [{ host: '10.0.0.1', port: 26379 }], name: 'mymaster' })",
    );
  }
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

type Ioredis = Pick<typeof import('ioredis'), 'Redis' | 'Cluster'>;

type OwnClient = RedisClient & {
  disconnect(reconnect?: boolean): void;
  nodes?(): readonly OwnClient[];
  readonly options: { socketTimeout?: number | undefined; connectTimeout?: number | undefined };
};

/** ms until a client that has ended reconnects. */
const REVIVAL_MS = 100;
/** ms until a connection to the wrong database is replaced. */
const SELECT_AGAIN_MS = 1_000;
/** ms; a silent connection is kept at least this long. With the usual deadline the store is known to be out by then. */
const SHORTEST_SILENCE = recommendedRedisOptions.socketTimeout;
/** Time limit of a connection attempt, ms, unless a call waits longer. */
const SHORTEST_ATTEMPT = recommendedRedisOptions.connectTimeout;

/** The client that a store creates for itself at its first call, with settings that count each call at most once. */
export class OwnConnection {
  /** ioredis. Loading it takes longer than a deadline leaves for an answer. */
  readonly loading: Promise<Ioredis>;
  #client: OwnClient | undefined;
  /** The longest time that a call has waited so far, ms. */
  #deadline = 0;
  #retrying: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(readonly server: OwnServer) {
    this.loading = loadIoredis();
    this.loading.catch(() => {}); // the first call reports it
  }

  get isCluster(): boolean {
    return 'cluster' in this.server;
  }

  async open(): Promise<RedisClient> {
    const loaded = await this.loading;
    this.#client ??= this.#create(loaded);
    return this.#client;
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#retrying);
    this.#client?.disconnect();
  }

  /**
   * Sets the timeouts of the connections. A connection without data for three times the longest deadline is replaced: a dead network path is
   * found soon, and no answer is cut off. A connection attempt lasts as long as a call waits for it, unless there are other servers to try.
   * @param deadline ms that a call waits for an answer
   */
  expect(deadline = 0): void {
    if (deadline <= this.#deadline) return;
    this.#deadline = deadline;
    for (const connection of this.#client?.nodes?.() ?? [this.#client]) this.#setTimeouts(connection);
  }

  #setTimeouts(connection: OwnClient | undefined): void {
    if (connection === undefined) return;
    const { options } = connection;
    options.socketTimeout = Math.min(LONGEST_TIMER, Math.max(SHORTEST_SILENCE, 3 * this.#deadline));
    if (!('url' in this.server) || this.server.options?.connectTimeout !== undefined) return;
    options.connectTimeout = Math.min(LONGEST_TIMER, Math.max(SHORTEST_ATTEMPT, this.#deadline));
  }

  #create({ Redis, Cluster }: Ioredis): OwnClient {
    const { server } = this;
    let created: unknown;
    if ('cluster' in server) created = new Cluster([...server.cluster], clusterOptions(server));
    else if ('sentinels' in server) created = new Redis(sentinelOptions(server));
    else created = new Redis(...serverOptions(server));
    const client = created as OwnClient;
    // Decisions and events report errors.
    client.on?.('error', (error) => {
      if (isSelectError(error)) this.#retry(() => client.disconnect(true), SELECT_AGAIN_MS);
    });
    client.on?.('+node', (node) => this.#setTimeouts(node as OwnClient));
    // ioredis gives up for good after a failover during a connection attempt, and after some refusals.
    client.on?.('end', () => this.#retry(() => client.connect?.().catch(() => {}), REVIVAL_MS));
    if (client.nodes === undefined) this.#setTimeouts(client);
    return client;
  }

  #retry(begin: () => void, ms: number): void {
    if (this.#closed) return;
    clearTimeout(this.#retrying);
    this.#retrying = setTimeout(begin, ms).unref();
  }
}

function loadIoredis(): Promise<Ioredis> {
  return ioredis().then(checkIoredis, (cause: { code?: unknown; message?: unknown }) => {
    // A bundler that took in ioredis, but not what ioredis itself needs, fails otherwise than a missing package.
    const remedy = /MODULE_NOT_FOUND$/.test(String(cause.code))
      ? 'install it (npm install ioredis), or pass a client of your own'
      : `${cause.message}. In a bundle, leave ioredis outside (external: ['ioredis']), or pass a client of your own`;
    throw new StoreConfigurationError(`redisStore cannot load the package ioredis: ${remedy}`, { cause });
  });
}

/** @throws StoreConfigurationError for ioredis 4, which has no export of this name */
function checkIoredis(loaded: Ioredis): Ioredis {
  if (loaded.Redis !== undefined) return loaded;
  throw new StoreConfigurationError(
    'redisStore needs ioredis 5 or 6, and loaded an older one: npm install ioredis@latest',
  );
}
