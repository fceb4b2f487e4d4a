import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import {
  type RedisClusterOptions,
  type RedisSentinelOptions,
  type RedisServerOptions,
  recommendedClusterOptions,
  recommendedRedisOptions,
  redisStore,
} from '@sluice/core';
import { Cluster, Redis } from 'ioredis';
import { CliError } from './cli-error.js';
import { RedisEntries } from './copy/redis-entries.js';
import { publishing } from './database.js';
import { nameOf } from './doctor/node.js';

/** The options of the command line for the connection to Redis. */
export interface RedisConnectionOptions {
  readonly redis?: string | undefined;
  readonly cluster?: string | undefined;
  readonly sentinel?: string | undefined;
  readonly name?: string;
  readonly user?: string | undefined;
  readonly tls?: boolean;
  readonly ca?: string;
  readonly clientPrefix?: string;
}

/** The Redis that a command works with. */
export interface RedisConnection {
  /** For commands that the store does not send. */
  readonly client: Redis | Cluster;
  /** The servers of the client, for `doctor`, which opens its own connections. */
  readonly server: RedisServerOptions | RedisSentinelOptions | RedisClusterOptions;
}

/** Pause before all nodes of a cluster, or all sentinels, are tried again, ms. */
const RETRY_MS = 500;

/** Does not connect yet. @param serves see `NamedStore` @throws CliError for options that contradict each other */
export function connectRedis(
  options: RedisConnectionOptions,
  env: NodeJS.ProcessEnv,
  deadline: number,
  serves: boolean,
) {
  // A failed first connection is reported. A lost connection is opened again, for commands that keep running.
  let wasReady = false;
  const retry = () => (wasReady || serves ? RETRY_MS : null);
  const { client, address, server } = clientOf(options, env, deadline, retry);
  client.once('ready', () => {
    wasReady = true;
  });
  // Errors arrive at the call; an error without a listener ends the process.
  client.on('error', () => {});
  // After a failover during a connection attempt ioredis gives up for good.
  let revival: NodeJS.Timeout | undefined;
  const revive = () => {
    if (retry() !== null) revival = setTimeout(() => client.connect().catch(() => {}), RETRY_MS);
  };
  client.on('end', revive);
  const store = redisStore({ client, ...publishing(serves) });
  const close = async () => {
    client.off('end', revive);
    clearTimeout(revival);
    await store.close();
    client.disconnect();
  };
  return { store, entries: new RedisEntries(client), redis: { client, server }, address, close };
}

function clientOf(
  options: RedisConnectionOptions,
  env: NodeJS.ProcessEnv,
  deadline: number,
  retry: () => number | null,
) {
  const { cluster, sentinel, name } = options;
  const isOneServer = cluster === undefined && sentinel === undefined;
  const url = urlOf(isOneServer ? (options.redis ?? (env.REDIS_URL || LOCAL)) : LOCAL);
  const access = { ...loginOf(options, env, url), ...tlsOf(options) };
  const common = { ...access, connectionName: 'sluice-cli' };
  const timeouts = { connectTimeout: deadline, socketTimeout: deadline };
  const prefix = options.clientPrefix === undefined ? {} : { keyPrefix: options.clientPrefix };
  const server = {
    ...recommendedRedisOptions,
    ...timeouts,
    ...common,
    ...prefix,
    lazyConnect: true,
  } as const;
  if (cluster !== undefined) {
    const nodes = addressesOf('--cluster', cluster, 6379);
    const redisOptions = { ...recommendedClusterOptions.redisOptions, ...timeouts, ...common };
    const dnsLookup = (host: string, found: (error: null, address: string) => void) => found(null, host);
    const client = new Cluster(nodes, {
      ...recommendedClusterOptions,
      ...prefix,
      ...(redisOptions.tls !== undefined && { dnsLookup }),
      lazyConnect: true,
      enableReadyCheck: false, // a random node, which can be out
      // On a busy machine the nodes that are up may answer too late for the first attempt. If all refuse, `connect` gives up at once.
      clusterRetryStrategy: () => RETRY_MS,
      redisOptions,
    });
    return { client, server: { cluster: nodes, ...access }, address: `The cluster ${textOf(nodes)}` };
  }
  if (sentinel !== undefined) {
    if (name === undefined) throw new CliError('--sentinel needs the name of the primary.', NO_NAME);
    const sentinels = addressesOf('--sentinel', sentinel, 26379);
    const { tls } = common;
    const secured = tls === undefined ? {} : { enableTLSForSentinelMode: true, sentinelTLS: tls };
    const { SENTINEL_USERNAME: sentinelUsername, SENTINEL_PASSWORD: sentinelPassword } = env;
    const login = {
      ...(sentinelUsername && { sentinelUsername }),
      ...(sentinelPassword && { sentinelPassword }),
    };
    const client = new Redis({
      ...server,
      ...secured,
      ...login,
      sentinels,
      name,
      failoverDetector: true,
      sentinelRetryStrategy: retry,
    });
    return {
      client,
      server: { sentinels, name, ...access, options: login },
      address: `'${name}' of the sentinels ${textOf(sentinels)}`,
    };
  }
  // In ioredis, the address would override the command line.
  const bare = Object.assign(new URL(url), { username: '', password: '' });
  return {
    client: new Redis(bare.href.replace(/^valkey/, 'redis'), server),
    server: { url: bare.href, ...access },
    address: `${url.protocol}//${url.host}${url.pathname}`,
  };
}

const LOCAL = 'redis://127.0.0.1:6379';
const NO_NAME = 'Add --name, as in `sentinel monitor mymaster …`: --name mymaster.';

/** The command line overrides the address, which overrides the environment. */
function loginOf({ user }: RedisConnectionOptions, env: NodeJS.ProcessEnv, url: URL) {
  const [ofAddress, passwordOfAddress] = [url.username, url.password].map(decodeURIComponent);
  const username = user ?? (ofAddress || env.REDIS_USERNAME);
  const password =
    user === undefined ? passwordOfAddress || env.REDIS_PASSWORD : env.REDIS_PASSWORD || passwordOfAddress;
  return { ...(username && { username }), ...(password && { password }) };
}

function tlsOf({ tls, ca }: RedisConnectionOptions): { tls?: { ca?: Buffer } } {
  if (ca === undefined) return tls ? { tls: {} } : {};
  try {
    const read = readFileSync(ca);
    new X509Certificate(read);
    return { tls: { ca: read } };
  } catch (error) {
    throw new CliError(`--ca: ${ca} is no file with certificates: ${(error as Error).message}`);
  }
}

function urlOf(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && /%(?![\da-f]{2})/i.test(url.username + url.password))
    throw new CliError(
      'The user or the password in the address of Redis has a % of its own.',
      'Write it as %25.',
    );
  if (url !== undefined && /^(?:rediss?|valkeys?):$/.test(url.protocol)) {
    if (/^\/?\d{0,9}$/.test(url.pathname)) return url;
    throw new CliError(
      `There is no database '${url.pathname.slice(1)}': databases have numbers.`,
      'For example: redis://127.0.0.1:6379/0',
    );
  }
  // The text can contain a password.
  throw new CliError(
    'The address of Redis must begin with redis:// or rediss://.',
    'For example: --redis redis://127.0.0.1:6379, or REDIS_URL=rediss://user:password@redis.example.com:6379. For a database: --store postgres://user@host/database, or --store sqlite:limits.db.',
  );
}

function addressesOf(option: string, list: string, usual: number): { host: string; port: number }[] {
  return list.split(',').map((text) => {
    const [, host, port = String(usual)] = /^\s*(\[[0-9a-f:.]+\]|[^\s:@/]+)(?::(\d+))?\s*$/i.exec(text) ?? [];
    if (host === undefined)
      throw new CliError(
        `${option} takes host:port, or several with commas.`,
        `For example: ${option} 10.0.0.1:${usual},10.0.0.2:${usual}`,
      );
    return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) };
  });
}

const textOf = (nodes: readonly { host: string; port: number }[]): string => nodes.map(nameOf).join(', ');
