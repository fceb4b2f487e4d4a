import { copyFile, mkdtemp, open, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import {
  CombinedLimiter,
  concurrency,
  fixedWindow,
  isStoreConfigurationError,
  isStoreUnavailableError,
  ManualClock,
  RateLimiter,
  type RateLimiterOptions,
  tokenBucket,
} from '@sluice/core';
import Libsql from 'libsql';
import { eventually } from '../../../tests/support/eventually.js';
import { fastFolder } from '../../../tests/support/fast-folder.js';
import { rejection } from '../../../tests/support/rejection.js';
import { type SqliteStore, sqliteStore } from './index.js';
import { SqliteTable } from './sqlite-table.js';

const policy = fixedWindow({ limit: 3, window: '1h' });

let folder: string;
let file: string;
let opened: { close(): unknown }[];

beforeEach(async () => {
  folder = await mkdtemp(join(fastFolder(), 'sluice-sqlite-'));
  file = join(folder, 'limits.db');
  opened = [];
});
afterEach(async () => {
  for (const one of opened.reverse()) await one.close();
  await rm(folder, { recursive: true, force: true });
});

function limiterOf(store: SqliteStore, options: Partial<RateLimiterOptions> = {}): RateLimiter {
  opened.push(store);
  const limiter = new RateLimiter({
    name: 'demo',
    policy,
    store,
    deadline: '10s',
    ...options,
  } as RateLimiterOptions);
  opened.push(limiter);
  return limiter;
}

/** The connection of another program to the file. */
function otherProgram(): InstanceType<typeof Libsql> {
  const database = new Libsql(file);
  opened.push(database);
  return database;
}

test('two connections count together, and the counts survive both', async () => {
  const [one, other] = [limiterOf(sqliteStore(file)), limiterOf(sqliteStore(file))];
  expect(await one.consume('ann')).toMatchObject({ allowed: true, remaining: 2, source: 'sqlite' });
  expect(await other.consume('ann')).toMatchObject({ allowed: true, remaining: 1 });
  for (const part of opened.splice(0).reverse()) await part.close();
  const again = limiterOf(sqliteStore(file));
  expect(await again.consume('ann')).toMatchObject({ allowed: true, remaining: 0 });
  expect(await again.consume('ann')).toMatchObject({ allowed: false });
});

describe('consumeSync', () => {
  test('decides without a promise, together with other connections', async () => {
    const [one, other] = [sqliteStore(file), sqliteStore(file)];
    await Promise.all([one.connect(), other.connect()]);
    const limiters = [one, other].map((store) => limiterOf(store, { denyCache: '1h' }));
    const decisions = [0, 1, 0, 1].map((i) => limiters[i]!.consumeSync('ann'));
    expect(decisions.map(({ remaining }) => remaining)).toEqual([2, 1, 0, 0]);
    expect(decisions.map(({ allowed }) => allowed)).toEqual([true, true, true, false]);
    expect(limiters[1]!.consumeSync('ann')).toMatchObject({ allowed: false, source: 'deny-cache' });
  });

  test('decides for combined limiters, and by prefetched permits', async () => {
    const store = sqliteStore(file);
    await store.connect();
    const plain = limiterOf(store);
    const bucket = limiterOf(store, {
      name: 'bucket',
      policy: tokenBucket({ capacity: 2, refill: 2, every: '1h' }),
    });
    const both = new CombinedLimiter({ plain, bucket });
    const keys = { plain: 'ann', bucket: 'ann' };
    expect([1, 2, 3].map(() => both.consumeSync(keys).allowed)).toEqual([true, true, false]);
    const prefetching = limiterOf(store, {
      name: 'prefetching',
      policy: fixedWindow({ limit: 100, window: '1h' }),
      prefetch: { most: 10 },
    });
    for (let i = 0; i < 5; i += 1) await prefetching.consume('ann');
    expect(prefetching.consumeSync('ann')).toMatchObject({
      allowed: true,
      source: 'prefetch',
      remaining: 94,
    });
  });

  test('the failure policy decides while another process has the file', async () => {
    const store = sqliteStore(file);
    await store.connect();
    const limiter = limiterOf(store, { failurePolicy: 'deny' });
    const other = otherProgram();
    other.exec('BEGIN IMMEDIATE');
    expect(limiter.consumeSync('ann')).toMatchObject({ allowed: false, degraded: true });
    other.exec('COMMIT');
    expect(limiter.consumeSync('ann')).toMatchObject({ allowed: true, degraded: false });
  });

  test('a file that is in use is no failure of the store: other calls go on waiting for it', async () => {
    const store = sqliteStore(file);
    await store.connect();
    const degraded = jest.fn();
    store.on('degraded', degraded).on('storeError', degraded);
    const limiter = limiterOf(store, { failurePolicy: 'deny' });
    const other = otherProgram();
    other.exec('BEGIN IMMEDIATE');
    for (let call = 0; call < 10; call += 1) expect(limiter.consumeSync('ann').degraded).toBe(true);
    const decided = limiter.consume('ann');
    await setTimeout(50);
    other.exec('COMMIT');
    expect(await decided).toMatchObject({ allowed: true, degraded: false, remaining: 2 });
    expect(degraded).not.toHaveBeenCalled();
  });

  test('says what to do before the driver is loaded', () => {
    const limiter = limiterOf(sqliteStore(file));
    expect(() => limiter.consumeSync('ann')).toThrow(/await store\.connect\(\) before the first consumeSync/);
  });
});

test('a call waits for the file while another process has it, and the event loop goes on', async () => {
  const store = sqliteStore(file);
  await store.connect();
  const limiter = limiterOf(store);
  const other = otherProgram();
  other.exec('BEGIN IMMEDIATE');
  let turns = 0;
  const timer = setInterval(() => {
    turns += 1;
  }, 1);
  const decided = limiter.consume('ann');
  await eventually(async () => turns > 20);
  clearInterval(timer);
  other.exec('COMMIT');
  expect(await decided).toMatchObject({ allowed: true, degraded: false });
});

test('a call waits for the file also with the fake timers of a test', async () => {
  const store = sqliteStore(file);
  await store.connect();
  const limiter = limiterOf(store);
  const other = otherProgram();
  other.exec('BEGIN IMMEDIATE');
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask'] });
  try {
    const decided = limiter.consume('ann');
    await setTimeout(50); // of the runtime
    other.exec('COMMIT');
    expect(await decided).toMatchObject({ allowed: true, degraded: false });
  } finally {
    jest.useRealTimers();
  }
});

test('a call that is abandoned while the file is busy takes nothing', async () => {
  const store = sqliteStore(file);
  await store.connect();
  const limiter = limiterOf(store, { deadline: '50ms', failurePolicy: 'deny' });
  const other = otherProgram();
  other.exec('BEGIN IMMEDIATE');
  expect(await limiter.consume('ann')).toMatchObject({ allowed: false, degraded: true });
  other.exec('COMMIT');
  const patient = limiterOf(sqliteStore(file));
  expect(await patient.peek('ann')).toMatchObject({ remaining: 3 });
});

test('a file that is busy for a while is no outage: a limiter without a deadline waits for it', async () => {
  const limiter = limiterOf(sqliteStore(file), { deadline: undefined });
  await limiter.consume('ann');
  const other = otherProgram();
  other.exec('BEGIN IMMEDIATE');
  const decided = limiter.consume('ann');
  await setTimeout(120); // longer than the usual deadline of other stores, and much shorter than the one of a file
  other.exec('COMMIT');
  expect(await decided).toMatchObject({ allowed: true, degraded: false, remaining: 1 });
});

test('a waiting call of another connection is woken by a release', async () => {
  const held = { policy: concurrency({ limit: 1, lease: '1h' }) };
  const [one, other] = [limiterOf(sqliteStore(file), held), limiterOf(sqliteStore(file), held)];
  const first = await one.acquire('job');
  const second = other.acquire('job');
  await eventually(async () => (await one.peek('job')).remaining === 0);
  await one.release(first);
  expect(await second).toMatchObject({ allowed: true });
  await other.release(await second);
});

test('expired entries are swept away, a thousand at a time', async () => {
  const clock = new ManualClock();
  const consumeOnce = async (keys: readonly (string | number)[]) => {
    const store = sqliteStore({ file, clock, definitions: false });
    const limiter = limiterOf(store);
    await Promise.all(keys.map((key) => limiter.consume(key)));
    await store.close(); // it must not sweep meanwhile
  };
  await consumeOnce(Array.from({ length: 2_500 }, (_, i) => i));
  const table = new SqliteTable(file, clock, undefined);
  opened.push(table);
  await table.connect();
  const rows = () =>
    otherProgram().prepare("SELECT count(*) AS rows FROM sluice WHERE key <> 'sluice:sweeping'").get();
  const sweep = async () => [await table.sweep(), await table.sweep(), await table.sweep()];
  expect(await sweep()).toEqual([true, true, false]);
  expect(rows()).toMatchObject({ rows: 2_500 });
  await clock.advance('2h');
  await consumeOnce(['new']);
  expect(await sweep()).toEqual([true, true, false]);
  expect(rows()).toMatchObject({ rows: 1 });
});

test.each<[unknown, RegExp]>([
  [':memory:', /use memoryStore\(\)/],
  ['', /such as 'limits.db'/],
  [{ file: 5 }, /such as 'limits.db'/],
  [{ file: 'file:limits.db' }, /must be the path of a file/],
  [{ file: 'limits.db', open: 'libsql' }, /open must be a function/],
  [{ path: 'limits.db' }, /path/],
  [undefined, /sqliteStore/],
])('%p is refused at construction', (options, message) => {
  expect(() => sqliteStore(options as never)).toThrow(message);
});

describe('calls reject with a StoreConfigurationError that says what to do', () => {
  const errorOf = async () => rejection(limiterOf(sqliteStore(file)).consume('ann'));

  test('for a file of another program, which stays as it is', async () => {
    otherProgram().exec('CREATE TABLE users (name TEXT)');
    const error = await errorOf();
    expect(isStoreConfigurationError(error)).toBe(true);
    expect(error).toMatchObject({ message: expect.stringContaining('belongs to another program') });
    expect(otherProgram().prepare('PRAGMA journal_mode').get()).toMatchObject({ journal_mode: 'delete' });
  });

  test('for a file that is no database', async () => {
    await writeFile(file, 'hello '.repeat(1000));
    const error = await errorOf();
    expect(isStoreConfigurationError(error)).toBe(true);
    expect(error).toMatchObject({ message: expect.stringMatching(/not a database.*may write/) });
  });

  test('for a folder that does not exist', async () => {
    file = join(folder, 'missing', 'limits.db');
    expect(isStoreConfigurationError(await errorOf())).toBe(true);
  });

  test('for a key that holds a foreign value; other keys are decided', async () => {
    const limiter = limiterOf(sqliteStore(file));
    await limiter.consume('ann');
    otherProgram().exec("UPDATE sluice SET entry = x'68656c6c6f'");
    const error = await rejection(limiter.consume('ann'));
    expect(isStoreConfigurationError(error)).toBe(true);
    expect(await limiter.consume('bob')).toMatchObject({ allowed: true });
  });
});

test('a damaged file is an outage: the failure policy decides', async () => {
  const limiter = limiterOf(sqliteStore(file), { failurePolicy: 'deny' });
  await limiter.consume('ann');
  otherProgram().exec('DROP TABLE sluice');
  expect(await limiter.consume('ann')).toMatchObject({ allowed: false, degraded: true });
});

test('a damaged file that is replaced by a whole one is used again without a restart', async () => {
  const [store, backup] = [sqliteStore(file), join(folder, 'backup.db')];
  const writer = limiterOf(store);
  await Promise.all(Array.from({ length: 2_000 }, (_, i) => writer.consume(i)));
  await store.close();
  otherProgram().exec('PRAGMA wal_checkpoint(TRUNCATE)');
  const { size } = await stat(file);
  await copyFile(file, backup);
  const limiter = limiterOf(sqliteStore(file), { failurePolicy: 'deny' });
  await limiter.consume(0);
  const damaged = await open(file, 'r+');
  await damaged.write(Buffer.alloc(size - 4_096, 0xa5), 0, size - 4_096, 4_096); // all but the header
  await damaged.close();
  let key = 0;
  await eventually(async () => {
    key += 1;
    return (await limiter.consume(key)).degraded;
  }, 0);
  for (const journal of ['-wal', '-shm']) await rm(file + journal, { force: true });
  await rename(backup, file);
  await eventually(async () => !(await limiter.consume(key)).degraded);
  expect(await limiter.peek(1_999)).toMatchObject({ remaining: 2, degraded: false });
});

test('a full disk is an outage: the failure policy decides new keys, and known ones go on', async () => {
  const open = (path: string) => {
    const database = new Libsql(path);
    database.exec('PRAGMA max_page_count = 12');
    return database;
  };
  const limiter = limiterOf(sqliteStore({ file, open }), { failurePolicy: 'deny' });
  let keys = 0;
  while (keys < 10_000 && !(await limiter.consume(keys)).degraded) keys += 1;
  expect(keys).toBeGreaterThan(100);
  expect(keys).toBeLessThan(10_000);
  expect(await limiter.consume(0)).toMatchObject({ allowed: true, degraded: false, remaining: 1 });
});

test('close ends while another process has the file: calls without an answer reject', async () => {
  const store = sqliteStore(file);
  await store.connect();
  const limiter = limiterOf(store);
  otherProgram().exec('BEGIN IMMEDIATE');
  const waiting = rejection(limiter.consume('ann'));
  await store.close();
  await store.close();
  for (const error of [await waiting, await rejection(limiter.consume('ann'))])
    expect(isStoreUnavailableError(error) && error.reason).toBe('closed');
});

test('close ends the wait of a call for a held permit, however long its lease is', async () => {
  const store = sqliteStore(file);
  const limiter = limiterOf(store, { policy: concurrency({ limit: 1, lease: '1h' }) });
  await limiter.acquire('job');
  const waiting = rejection(limiter.acquire('job'));
  await setTimeout(300); // it listens, and polls no more
  await store.close();
  const error = await waiting;
  expect(isStoreUnavailableError(error) && error.reason).toBe('closed');
});
