import { readFileSync } from 'node:fs';
import {
  type RedisClusterOptions,
  type RedisSentinelOptions,
  type RedisServerOptions,
  type RedisStore,
  recommendedClusterOptions,
  recommendedRedisOptions,
  redisStore,
} from '@sluice/core';
import { toMicros } from '@sluice/core/operations';
import { Cluster, Redis } from 'ioredis';
import { CliError } from './cli-error.js';

/** The options of the command line that say where Redis is. */
export interface ConnectionOptions {
  readonly redis?: string;
  readonly cluster?: string;
  readonly sentinel?: string;
  readonly name?: string;
  readonly user?: string;
  readonly tls?: boolean;
  readonly ca?: string;
  readonly clientPrefix?: string;
  readonly deadline: string;
}

/** The Redis that a command works with. */
export interface Connection {
  readonly store: RedisStore;
  /** For commands beyond the store's. */
  readonly client: Redis | Cluster;
  /** Where the client connects to, for `doctor`, which connects to each server by itself. */
  readonly server: RedisServerOptions | RedisSentinelOptions | RedisClusterOptions;
  /** Without user and password. */
  readonly address: string;
  /** How long one answer may take, ms. */
  readonly deadline: number;
  close(): Promise<void>;
}

/** Connects nothing yet. @throws CliError for options that make no sense together */
export function connectionOf(options: ConnectionOptions, env: NodeJS.ProcessEnv): Connection {
  const given = (['redis', 'cluster', 'sentinel'] as const).filter((name) => options[name] !== undefined);
  if (given.length > 1)
    throw new CliError(
      `Give one of --${given.join(' and --')}, not both.`,
      'They name different kinds of servers.',
    );
  const deadline = toMicros('--deadline', options.deadline) / 1000;
  const { client, address, server } = clientOf(options, env, deadline);
  // Errors arrive at the call; an error without a listener ends the process.
  client.on('error', () => {});
  const store = redisStore({ client, definitions: false });
  const close = async () => {
    await store.close();
    client.disconnect();
  };
  return { store, client, server, address, deadline, close };
}

function clientOf(options: ConnectionOptions, env: NodeJS.ProcessEnv, deadline: number) {
  const { cluster, sentinel, name } = options;
  const access = { ...loginOf(options, env), ...tlsOf(options) };
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
      clusterRetryStrategy: () => null,
      redisOptions,
    });
    return { client, server: { cluster: nodes, ...access }, address: `The cluster ${textOf(nodes)}` };
  }
  if (sentinel !== undefined) {
    if (name === undefined)
      throw new CliError(
        '--sentinel needs the name of the primary.',
        'Add --name, as in `sentinel monitor mymaster …`: --name mymaster.',
      );
    const sentinels = addressesOf('--sentinel', sentinel, 26379);
    const { tls } = common;
    const secured = tls === undefined ? {} : { enableTLSForSentinelMode: true, sentinelTLS: tls };
    const client = new Redis({ ...server, ...secured, sentinels, name, sentinelRetryStrategy: () => null });
    return {
      client,
      server: { sentinels, name, ...access },
      address: `'${name}' of the sentinels ${textOf(sentinels)}`,
    };
  }
  const url = urlOf(options.redis ?? (env.REDIS_URL || 'redis://127.0.0.1:6379'));
  const client = new Redis(url.href.replace(/^valkey/, 'redis'), server);
  return {
    client,
    server: { url: url.href, ...access },
    address: `${url.protocol}//${url.host}${url.pathname}`,
  };
}

function loginOf({ user }: ConnectionOptions, env: NodeJS.ProcessEnv) {
  const username = user ?? env.REDIS_USERNAME;
  const password = env.REDIS_PASSWORD;
  return { ...(username && { username }), ...(password && { password }) };
}

function tlsOf({ tls, ca }: ConnectionOptions): { tls?: { ca?: Buffer } } {
  if (ca === undefined) return tls ? { tls: {} } : {};
  try {
    return { tls: { ca: readFileSync(ca) } };
  } catch (error) {
    throw new CliError(`--ca: cannot read ${ca}: ${(error as Error).message}`);
  }
}

function urlOf(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && /^(?:rediss?|valkeys?):$/.test(url.protocol)) return url;
  // The text may have a password.
  throw new CliError(
    'The address of Redis must begin with redis:// or rediss://.',
    'For example: --redis redis://127.0.0.1:6379, or REDIS_URL=rediss://user:password@redis.example.com:6379',
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

const textOf = (nodes: readonly { host: string; port: number }[]): string =>
  nodes.map(({ host, port }) => `${host}:${port}`).join(', ');
