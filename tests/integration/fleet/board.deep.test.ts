import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readUsage } from '@sluice/fleet';
import { Redis } from 'ioredis';
import { Redis as Valkey } from 'iovalkey';
import { createClient } from 'redis';
import { type Limit, redisStore, type Store } from '../../../packages/core/src/index.js';
import { sqliteStore } from '../../../packages/sqlite/src/index.js';
import { denialsContract, fleetBoardContract, use } from '../../contracts/store/fleet-board.suite.js';
import { storeOnDefaults } from '../../support/expecting-warning.js';
import { like } from '../../support/like.js';
import { type RedisSentinels, startRedisSentinels } from '../../support/redis/redis-sentinel.js';
import { type RedisServer, startRedis } from '../../support/redis/redis-server.js';
import { rejection } from '../../support/rejection.js';
import { KINDS, OwnCluster } from '../cluster/own-cluster.js';

// The notice board on every kind of server, client and file.

// Not the server of all tests: a reader in another file would keep the processes of these tests sending.
let server: RedisServer;
beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.stop());

type Client = Parameters<typeof redisStore>[0];

/** A store with a client that closes with it. */
function borrowing(client: Client, end: () => unknown): Store {
  const store = storeOnDefaults(client);
  const close = async () => {
    await store.close();
    end();
  };
  return like(store, { close, health: store.health });
}

function contracts(open: () => Store): void {
  fleetBoardContract(open);
  denialsContract(open);
}

describe.each<[string, () => Store]>([
  [
    'ioredis',
    () => {
      const client = new Redis(server.url);
      return borrowing(client, () => client.disconnect());
    },
  ],
  [
    'ioredis with a keyPrefix',
    () => {
      const client = new Redis(server.url, { keyPrefix: 'app:' });
      return borrowing(client, () => client.disconnect());
    },
  ],
  [
    'ioredis that gives numbers as text',
    () => {
      const client = new Redis(server.url, { stringNumbers: true });
      return borrowing(client, () => client.disconnect());
    },
  ],
  [
    'iovalkey',
    () => {
      const client = new Valkey(server.url);
      return borrowing(client, () => client.disconnect());
    },
  ],
  [
    'node-redis',
    () => {
      const client = createClient({ url: server.url });
      return borrowing(client, () => client.isOpen && client.destroy());
    },
  ],
  [
    'node-redis with a keyPrefix, on RESP 2',
    () => {
      const client = createClient({ url: server.url, keyPrefix: 'app:', RESP: 2 });
      return borrowing(client, () => client.isOpen && client.destroy());
    },
  ],
])('%s', (_, open) => contracts(open));

describe('a cluster', () => {
  const own = new OwnCluster();
  describe.each(KINDS)('$name', (kind) => contracts(() => own.store(kind)));
  describe('node-redis', () => contracts(() => own.nodeRedisStore()));
  describe("the store's own client", () => contracts(() => redisStore({ cluster: own.addresses })));
});

describe('sentinels', () => {
  let sentinels: RedisSentinels;
  beforeAll(async () => {
    sentinels = await startRedisSentinels();
  });
  afterAll(() => sentinels.stop());
  contracts(() => redisStore({ sentinels: sentinels.addresses, name: sentinels.name }));
});

describe('SQLite', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-board-'));
  afterAll(() => rm(folder, { recursive: true, force: true }));
  contracts(() => sqliteStore(join(folder, 'limits.db')));
});

test('a server that does not answer keeps no reader, and no process that publishes', async () => {
  const frozen = await startRedis();
  const client = new Redis(frozen.url);
  const store = storeOnDefaults(client);
  try {
    await use(store);
    await frozen.freeze();
    const texts = Array.from({ length: 20 }, () => store.fleet!.publish('usage', 'text', 60_000));
    const reads = [
      readUsage(store),
      store.look!({ limit: { prefix: 'frozen', suffix: '' } as Limit, key: 'k' }),
    ].map(rejection);
    const timeout = { code: 'SLUICE_STORE_UNAVAILABLE', reason: 'timeout' };
    expect(await Promise.all(reads)).toMatchObject([timeout, timeout]);
    expect(new Set(await Promise.all(texts))).toEqual(new Set([false]));
    expect((client as unknown as { commandQueue: unknown[] }).commandQueue.length).toBeLessThanOrEqual(4 + 2);
  } finally {
    await frozen.thaw();
    await store.close();
    client.disconnect();
    await frozen.stop();
  }
});
