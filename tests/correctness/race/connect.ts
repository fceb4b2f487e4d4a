import { once } from 'node:events';
import { createRequire } from 'node:module';
import { Cluster, Redis } from 'ioredis';
import {
  type RedisClient,
  recommendedRedisOptions,
  redisStore,
  type Store,
} from '../../../packages/core/src/index.js';
import { postgresStore } from '../../../packages/postgres/src/index.js';
import { sqliteStore } from '../../../packages/sqlite/src/index.js';
import { expectOutages } from '../../support/expect-outages.js';
import { TcpProxy } from '../../support/redis/tcp-proxy.js';
import type { StoreAddress } from './race-run.js';

export interface Connected {
  readonly store: Store;
  /** The proxy before a single server, which can lose replies. */
  readonly proxy: TcpProxy | undefined;
}

/** Long timeouts, short reconnection delays: only faults end connections here, not a busy machine. */
const PATIENT = { ...recommendedRedisOptions, socketTimeout: 60_000, disconnectTimeout: 0 };
const AGAIN = 50;

export async function connect(place: StoreAddress): Promise<Connected> {
  if (place.kind === 'file') {
    const Database = createRequire(place.driver)(place.driver);
    return { store: sqliteStore({ file: place.file, open: (file) => new Database(file) }), proxy: undefined };
  }
  if (place.kind === 'postgres') {
    const url = new URL(place.url);
    const proxy = place.losesReplies ? await TcpProxy.start(Number(url.port)) : undefined;
    if (proxy !== undefined) url.port = String(proxy.port);
    const store = postgresStore(url.href).on('degraded', () => {});
    store.expect(60_000); // eight processes on one row wait for each other
    return { store, proxy };
  }
  const proxy = place.kind === 'server' ? await TcpProxy.start(place.url) : undefined;
  const client = clientOf(place, proxy);
  client.on('error', () => undefined);
  await once(client, 'ready');
  return { store: expectOutages(redisStore(client as RedisClient)), proxy };
}

function clientOf(
  place: Exclude<StoreAddress, { kind: 'file' | 'postgres' }>,
  proxy: TcpProxy | undefined,
): Redis | Cluster {
  if (place.kind === 'server') {
    return new Redis(proxy!.url, { ...PATIENT, connectTimeout: 60_000, retryStrategy: () => 1 });
  }
  // A client must close the connection to the old server before it looks for another.
  const redisOptions = { ...PATIENT, connectTimeout: 2_000 };
  const { addresses } = place;
  if (place.kind === 'cluster') {
    return new Cluster([...addresses], { clusterRetryStrategy: () => AGAIN, redisOptions });
  }
  const client = new Redis({
    ...redisOptions,
    sentinels: [...addresses],
    name: place.name,
    failoverDetector: true,
    retryStrategy: () => AGAIN,
    sentinelRetryStrategy: () => AGAIN,
  });
  // ioredis 6 gives up for good if it learns of the failover while it is connecting.
  client.on('end', () => void client.connect().catch(() => undefined));
  return client;
}
