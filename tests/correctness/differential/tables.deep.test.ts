import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { Redis } from 'ioredis';
import Libsql from 'libsql';
import pg from 'pg';
import type { Policy } from '../../../packages/core/src/algorithms/algorithm.js';
import { type Answer, type Operation, storageKey } from '../../../packages/core/src/call/call.js';
import { ManualClock, type Store } from '../../../packages/core/src/index.js';
import { ESCALATION_SUFFIX } from '../../../packages/core/src/internal.js';
import { TableInUse } from '../../../packages/entries/src/table-in-use.js';
import { postgresStore } from '../../../packages/postgres/src/index.js';
import { sqliteStore } from '../../../packages/sqlite/src/index.js';
import { upstashStore } from '../../../packages/upstash/src/index.js';
import { fastFolder } from '../../support/fast-folder.js';
import { type PostgresServer, startPostgres } from '../../support/postgres/index.js';
import { type RedisServer, startRedis } from '../../support/redis/redis-server.js';
import { UPSTASH_TOKEN, UpstashDouble } from '../../support/upstash.js';
import {
  denied,
  difference,
  escalationsOf,
  held,
  history,
  keysOf,
  questionsOf,
  rates,
  type Step,
} from './histories.js';
import { policies } from './policies.js';
import { type Observed, type TimedCall, WITHOUT_EXPIRY } from './replay.js';
import { DEEP_SEED } from './runs.js';

/**
 * Stores over a database, or over HTTP, answer the same random calls as memory does, and keep the same bytes. The twins say the same of
 * Redis, so all five agree.
 */
const RUNS = 10;

interface Row {
  readonly hex: string;
  readonly expires: number | string;
}

interface Table {
  readonly store: Store;
  /** Decides at the moment of the call. */
  decide(timed: TimedCall): Promise<Answer>;
  /** The bytes of a key in hexadecimal, and until when they count. */
  read(key: string): Promise<Row | undefined>;
  clear(): Promise<unknown>;
}

const clock = new ManualClock();
const byClock =
  (store: Store) =>
  async ({ now, call }: TimedCall): Promise<Answer> => {
    clock.set(now);
    return store.decide(call);
  };

let server: PostgresServer;
let redis: RedisServer;
let double: UpstashDouble;
let client: pg.Client;
let folder: string;
const tables: Record<string, Table> = {};
const opened: { close(): unknown }[] = [];

beforeAll(async () => {
  // Whether a row is swept at some step would depend on how quick the machine is.
  jest.spyOn(TableInUse.prototype, 'claim').mockResolvedValue(false);
  server = await startPostgres();
  const store = postgresStore({ url: server.url, clock, definitions: false });
  client = new pg.Client(server.url);
  await client.connect();
  tables.Postgres = {
    store,
    decide: byClock(store),
    read: async (key) => {
      const text = "SELECT encode(entry, 'hex') AS hex, expires FROM sluice WHERE key = $1";
      return (await client.query<Row>(text, [key])).rows[0];
    },
    clear: () => client.query('DELETE FROM sluice'),
  };
  folder = await mkdtemp(join(fastFolder(), 'sluice-tables-'));
  const file = join(folder, 'limits.db');
  const inFile = sqliteStore({ file, clock, definitions: false });
  await inFile.connect();
  const database = new Libsql(file);
  tables.SQLite = {
    store: inFile,
    decide: byClock(inFile),
    read: async (key) => {
      const sql = 'SELECT lower(hex(entry)) AS hex, expires FROM sluice WHERE key = ?';
      return (database.prepare(sql).all(key) as Row[])[0];
    },
    clear: async () => database.exec('DELETE FROM sluice'),
  };
  opened.push(store, inFile, database);
  redis = await startRedis();
  const rows = new Redis(redis.url);
  double = await UpstashDouble.start(redis.url);
  double.rewrite = ([name, , ...rest]) => {
    if (name !== 'EVAL' && name !== 'EVALSHA') throw new Error(`the store sent ${name}`);
    return ['EVAL', WITHOUT_EXPIRY, ...rest];
  };
  const overRest = upstashStore({ url: double.url, token: UPSTASH_TOKEN, definitions: false });
  // A busy machine answers late. An answer that is given up would still write, into the next history.
  overRest.expect(20_000);
  tables.Upstash = {
    store: overRest,
    decide: async ({ now, call }) => (await overRest.decideAll([call], now))[0]!,
    read: async (key) => {
      const entry = await rows.getBuffer(key);
      return entry === null ? undefined : { hex: entry.toString('hex'), expires: Number.POSITIVE_INFINITY };
    },
    clear: () => rows.flushall(),
  };
  opened.push(overRest, { close: () => rows.disconnect() });
}, 120_000);

afterAll(async () => {
  for (const one of opened) await one.close();
  await client?.end();
  await server?.stop();
  await double?.stop();
  await redis?.stop();
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
});

async function replayed({ decide, read, clear }: Table, steps: readonly Step[]): Promise<Observed[]> {
  const keys = [
    ...new Set(
      steps.flatMap(({ timed }) =>
        timed.call.parts.flatMap((part) => {
          const key = storageKey(part);
          return part.limit.rule.escalation === undefined ? [key] : [key, key + ESCALATION_SUFFIX];
        }),
      ),
    ),
  ];
  const observed: Observed[] = [];
  for (const { timed, expected } of steps) {
    const answer = await decide(timed);
    const stored: (string | null)[] = [];
    for (const [i, due] of expected.stored.entries()) {
      const row = keys[i] === undefined ? undefined : await read(keys[i]);
      // An expired entry counts for nothing, and is there until the next sweep. The model forgets it with the next write.
      stored.push(row === undefined ? null : Number(row.expires) > timed.now ? row.hex : due);
    }
    observed.push({ answer, stored, ttls: expected.ttls });
  }
  await clear();
  return observed;
}

const { concurrency, ...others } = policies;
const subjects: readonly (readonly [string, fc.Arbitrary<Policy[]>, readonly Operation[], boolean])[] = [
  ...Object.entries(others).map(
    ([name, policy]) => [name, policy.map((one) => [one]), rates, false] as const,
  ),
  ['concurrency', concurrency!.map((one) => [one]), held, false],
  [
    'several with escalations',
    fc.array(fc.oneof(...Object.values(others)), { minLength: 2, maxLength: 3 }),
    denied,
    true,
  ],
];

describe.each(['Postgres', 'SQLite', 'Upstash'])('%s answers and keeps the same as memory', (kind) => {
  test.each(subjects)(
    '%s',
    async (_, sets, operations, escalates) => {
      const cases = sets.chain((set) =>
        fc.tuple(fc.constant([set]), escalates ? escalationsOf(set.length) : fc.constant([])),
      );
      await tables[kind]!.store.connect?.();
      await fc.assert(
        fc.asyncProperty(cases, questionsOf(operations), async ([all, escalations], questions) => {
          const steps = history(all, questions, new Set(), escalations);
          expect(steps[0]!.expected.stored).toHaveLength(keysOf(all, escalations));
          expect(difference(steps, await replayed(tables[kind]!, steps), 0)).toBeUndefined();
        }),
        { numRuns: RUNS, seed: DEEP_SEED, endOnFailure: true },
      );
    },
    120_000,
  );
});
