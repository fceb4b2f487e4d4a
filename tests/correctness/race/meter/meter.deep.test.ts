import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { memoryStore, redisStore, type Store } from '../../../../packages/core/src/index.js';
import { postgresStore } from '../../../../packages/postgres/src/index.js';
import { sqliteStore } from '../../../../packages/sqlite/src/index.js';
import { fastFolder } from '../../../support/fast-folder.js';
import { startPostgres } from '../../../support/postgres/index.js';
import { randomFrom, seedOf } from '../../../support/random.js';
import { startRedis } from '../../../support/redis/redis-server.js';
import { warned } from '../../../support/warned.js';
import { aligned, percent } from '../outcome.js';
import { HoldLog } from './judge-of-holds.js';
import { raceOfHolds } from './race-of-holds.js';
import { type Entry, recorded } from './recording.js';
import { metersOf, RULES, streams, TTL } from './streams.js';

// Eight processes hold, stream and settle, are killed, and lose replies. Each writes what it sends and what was decided. At every moment of the
// store's clock, what was settled and what live holds hold is within the limit; and at the end the store has counted each amount once.

const KILLS = 8;

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const table: string[][] = [['', 'holds', 'settled', 'without an answer', ...Object.keys(RULES)]];
afterAll(() => {
  process.stdout.write(`\n${aligned(table)}\n\n`);
});

/** Judges the lines of all processes, and what the store has at the end. */
async function judge(name: string, processes: Entry[][], store: Store): Promise<void> {
  const log = new HoldLog(processes, TTL);
  const held = log.lives.filter(({ grown }) => grown.length > 0).length;
  const settled = log.lives.filter(({ settle }) => settle?.recorded !== undefined).length;
  const shares: number[] = [];
  const above: string[] = [];
  for (const [axis, rule] of Object.entries(RULES)) {
    const most = log.budgetsOf(axis).map((budget) => ({ budget, ...log.mostOf(budget, rule) }));
    for (const { budget, sum, moment } of most)
      if (sum > rule.limit) above.push(`${sum} of ${rule.limit} of ${budget} at ${moment}`);
    shares.push(Math.max(0, ...most.map(({ sum }) => sum)) / rule.limit);
  }
  table.push([name, ...[held, settled, log.lost].map(String), ...shares.map(percent)]);
  expect(above).toEqual([]);
  expect(Math.max(...shares)).toBeGreaterThan(0.9);
  expect(settled).toBeGreaterThan(40);
  const { usd } = metersOf(store);
  const wrong: string[] = [];
  for (const budget of log.budgetsOf('usd')) {
    const key = budget.split(' ')[1]!;
    const [tenant, user = 'u0'] = key.split('-') as [string, string?];
    const { lines } = await usd.status({ tenant, user });
    const { used } = lines.find(({ scope, axis }) => scope === key && axis === 'usd')!;
    const { from, to } = log.usedOf(budget);
    if (used < from || used > to) wrong.push(`${budget}: ${used}, not ${from} to ${to}`);
  }
  await usd.close();
  expect(wrong).toEqual([]);
}

test('in memory, settled and live amounts are within the limit at every moment', async () => {
  const store = memoryStore();
  closing.push(() => store.close());
  const processes: Entry[][] = [];
  const killed = new Error('killed');
  const run = async (process: number): Promise<void> => {
    const random = randomFrom(seedOf(process));
    const lines: Entry[] = [];
    processes.push(lines);
    const dies = Date.now() + 300 + random(4_000);
    const write = (line: Entry) => {
      if (Date.now() > dies) throw killed;
      lines.push(line);
    };
    const loses = () => random(60) === 0;
    const meters = metersOf(recorded(store, write, loses, () => store.clock.now()));
    const one = () => streams(meters, random, 1, () => false);
    const ended = await Promise.allSettled(Array.from({ length: 5 }, one));
    for (const each of ended) expect(each).toEqual({ status: 'rejected', reason: killed });
  };
  // A stream that was killed cannot settle either, nor one that a busy machine held up until its hold had lapsed.
  const warnings = await warned(() => Promise.all(Array.from({ length: 16 }, (_, process) => run(process))));
  for (const warning of warnings)
    expect(warning).toMatch(/its use was not settled: (Error: killed|HoldLapsedError: .+)$/);
  expect(warnings.join()).toContain('Error: killed');
  await judge('memory', processes, store);
}, 60_000);

test('in Redis, settled and live amounts are within the limit at every moment', async () => {
  const redis = await startRedis();
  closing.push(() => redis.stop());
  const processes = await raceOfHolds({ kind: 'server', url: redis.url }, KILLS);
  const store = redisStore(redis.url);
  closing.push(() => store.close());
  await judge('Redis', processes, store);
}, 120_000);

test('in Postgres, settled and live amounts are within the limit at every moment', async () => {
  const server = await startPostgres();
  closing.push(() => server.stop());
  const processes = await raceOfHolds({ kind: 'postgres', url: server.url, losesReplies: true }, KILLS);
  const store = postgresStore(server.url);
  closing.push(() => store.close());
  await judge('Postgres', processes, store);
}, 120_000);

test('in a file, settled and live amounts are within the limit at every moment', async () => {
  const folder = await mkdtemp(join(fastFolder(), 'sluice-holds-'));
  closing.push(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'budgets.db');
  const driver = createRequire(__filename).resolve('libsql');
  const processes = await raceOfHolds({ kind: 'file', file, driver }, KILLS);
  const store = sqliteStore(file);
  closing.push(() => store.close());
  await judge('a file', processes, store);
}, 120_000);
