import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { EVERYONE } from '../../../packages/core/src/call/call.js';
import {
  type ManualClock,
  memoryStore,
  type RedisClient,
  type RedisStore,
  type redisStore,
  type Store,
} from '../../../packages/core/src/index.js';
import { PostgresStore } from '../../../packages/postgres/src/index.js';
import { type Database, type OpenFile, SqliteStore } from '../../../packages/sqlite/src/index.js';
import { upstashStore } from '../../../packages/upstash/src/index.js';
import { storeOnDefaults } from '../../support/expecting-warning.js';
import { fastFolder } from '../../support/fast-folder.js';
import { like } from '../../support/like.js';
import { type PostgresServer, startPostgres } from '../../support/postgres/index.js';
import { redisUrl } from '../../support/redis-url.js';
import { UPSTASH_TOKEN, type UpstashDouble } from '../../support/upstash.js';
import type { StoreKind } from './harness.js';

/** All that is in this process's memory is in one store: another limiter has to do for another process. */
export const memory: StoreKind = {
  name: 'memory',
  open: (clock) => memoryStore(clock === undefined ? {} : { clock }),
  another: (store) => like(store, { close: async () => {} }),
};

/** A Redis store, with the clock of a test if one is given. */
const timed = (client: Parameters<typeof redisStore>[0], clock: ManualClock | undefined): Store =>
  withClock(storeOnDefaults(client), clock);

/** Scripts take the time as an argument, as tests may pass it. */
function withClock(store: RedisStore, clock: ManualClock | undefined): Store {
  if (clock === undefined) return store;
  return like(store, {
    clock,
    decide: async (call) => (await store.decideAll([call], clock.now()))[0]!,
  });
}

export const redisByAddress: StoreKind = {
  name: 'redis by address',
  open: (clock) => timed(redisUrl(), clock),
  another: (_, clock) => timed(redisUrl(), clock),
};

/** A client that is not the store's own, which ends with it here so that a test has one thing to close. */
export interface Borrowed {
  readonly client: Parameters<typeof redisStore>[0];
  isOpen(): boolean;
  close(): unknown;
}

export function redisByClient(name: string, borrow: () => Borrowed): StoreKind {
  const open = (clock?: ManualClock) => {
    const { client, isOpen, close: end } = borrow();
    const store = timed(client, clock);
    const close = async () => {
      await store.close();
      expect(isOpen()).toBe(true);
      await end();
    };
    return like(store, { close });
  };
  return { name, open, another: (_, clock) => open(clock) };
}

/** A client of ioredis or of its like. */
export function redisByIoredis(name: string, connect: () => RedisClient & { disconnect(): void }): StoreKind {
  return redisByClient(name, () => {
    const client = connect();
    return {
      client,
      isOpen: () => ['wait', 'connecting', 'connect', 'ready'].includes(String(client.status)),
      close: () => client.disconnect(),
    };
  });
}

/** Operations that admit no waiting call. */
const TAKING: ReadonlySet<string> = new Set(['consume', 'acquire', 'renew', 'peek']);

/** Waiting calls poll. The clock of a test stands still between its steps, so there they poll after each call that can admit one. */
export function upstash(double: () => UpstashDouble): StoreKind {
  const waiting = new Set<() => void>();
  const listen: NonNullable<Store['listen']> = async (_, granted) => {
    const poll = () => granted(EVERYONE);
    waiting.add(poll);
    return () => void waiting.delete(poll);
  };
  const open = (clock?: ManualClock) => {
    const store = upstashStore({ url: double().url, token: UPSTASH_TOKEN });
    if (clock === undefined) return store;
    const timed = withClock(store, clock);
    const decide: Store['decide'] = async (call) => {
      const answer = await timed.decide(call);
      if (!TAKING.has(call.operation)) for (const poll of waiting) poll();
      return answer;
    };
    return like(timed, { decide, listen });
  };
  return { name: 'upstash', open, another: (_, clock) => open(clock) };
}

let files = 0;
const folder = mkdtempSync(join(fastFolder(), 'sluice-sqlite-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Each store has a connection of its own to the file, as in another process. */
function sqliteKind(name: string, open?: OpenFile): StoreKind {
  return {
    name,
    open: (clock) => {
      files += 1;
      return new SqliteStore({ file: join(folder, `${files}.db`), clock, open });
    },
    another: (store, clock) => new SqliteStore({ file: (store as SqliteStore).file, clock, open }),
  };
}

export const sqlite: StoreKind = sqliteKind('sqlite');

/** Node.js' own driver, from 22.13 on. */
export function nodeSqlite(): StoreKind | undefined {
  const { DatabaseSync } = nodeSqliteModule() ?? {};
  return DatabaseSync && sqliteKind('node:sqlite', (file) => new DatabaseSync(file));
}

interface NodeSqlite {
  readonly DatabaseSync: new (file: string) => Database;
}

function nodeSqliteModule(): NodeSqlite | undefined {
  try {
    return createRequire(__filename)('node:sqlite') as NodeSqlite;
  } catch {
    return undefined;
  }
}

let postgresServer: PostgresServer;

/** Starts the server of `postgres`, for the tests of the file. */
export function startsPostgres(): void {
  beforeAll(async () => {
    postgresServer = await startPostgres();
  }, 120_000);
  afterAll(() => postgresServer?.stop());
}

const onPostgres = (clock?: ManualClock) => new PostgresStore({ url: postgresServer.url, clock });

/** Each store has a connection of its own to the server, as in another process. They share a table. */
export const postgres: StoreKind = {
  name: 'postgres',
  open: onPostgres,
  another: (_, clock) => onPostgres(clock),
};
