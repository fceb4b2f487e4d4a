import { execFileSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, open, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Libsql from 'libsql';
import { fixedWindow, isStoreConfigurationError, RateLimiter } from '../../../packages/core/src/index.js';
import { type SqliteStore, sqliteStore } from '../../../packages/sqlite/src/index.js';
import { rejection } from '../../support/rejection.js';

// What a disk can do to the file: it is full, it damages it, it may not be written.

const policy = fixedWindow({ limit: 3, window: '1h' });
const isRoot = process.getuid?.() === 0;

let folder: string;
const opened: { close(): unknown }[] = [];
let emitted: jest.SpyInstance;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-disk-'));
  await chmod(folder, 0o755);
  emitted = jest.spyOn(process, 'emitWarning').mockReturnValue();
});
afterEach(async () => {
  emitted.mockRestore();
  for (const one of opened.splice(0).reverse()) await one.close();
  await rm(folder, { recursive: true, force: true });
});

const warnings = (): string[] => emitted.mock.calls.map(([message]) => String(message));

function limiterOf(store: SqliteStore): RateLimiter {
  const limiter = new RateLimiter({ name: 'disk', policy, store, deadline: '10s', failurePolicy: 'deny' });
  opened.push(store, limiter);
  return limiter;
}

/** A real disk that is soon full. Only root may mount one. */
function smallDisk(): string {
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=400k', 'sluice-test', folder]);
  opened.unshift({ close: () => execFileSync('umount', ['--lazy', folder]) });
  return join(folder, 'limits.db');
}

(isRoot ? test : test.skip)(
  'a disk that is full is an outage with one warning, and ends with it',
  async () => {
    const file = smallDisk();
    const limiter = limiterOf(sqliteStore(file));
    let keys = 0;
    while (keys < 20_000 && !(await limiter.consume(`key-${keys}`)).degraded) keys += 1;
    expect(keys).toBeGreaterThan(10);
    expect(keys).toBeLessThan(20_000);
    for (let call = 0; call < 5; call += 1)
      expect(await limiter.consume(`more-${call}`)).toMatchObject({ allowed: false, degraded: true });
    expect(warnings()).toEqual([expect.stringMatching(/^sqliteStore: .*limits\.db is out: .*full/)]);
    execFileSync('mount', ['-o', 'remount,size=8m', folder]);
    while ((await limiter.consume('ann')).degraded);
    expect(await limiter.consume('key-0')).toMatchObject({ allowed: true, remaining: 1 });
    expect(warnings()).toEqual([expect.anything(), expect.stringContaining('answers again')]);
  },
);

test('a damaged file is an outage with one warning, and the file stays as it is', async () => {
  const file = join(folder, 'limits.db');
  const writer = limiterOf(sqliteStore(file));
  await Promise.all(Array.from({ length: 2_000 }, (_, i) => writer.consume(`key-${i}`)));
  for (const one of opened.splice(0).reverse()) await one.close();
  const journal = new Libsql(file);
  journal.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  journal.close();
  // The header is whole, and no page behind it is.
  const { size } = await stat(file);
  const handle = await open(file, 'r+');
  await handle.write(Buffer.alloc(size - 4_096, 0xa5), 0, size - 4_096, 4_096);
  await handle.close();

  const limiter = limiterOf(sqliteStore(file));
  for (let call = 0; call < 5; call += 1)
    expect(await limiter.consume(`key-${call}`)).toMatchObject({ allowed: false, degraded: true });
  expect(warnings()).toEqual([expect.stringMatching(/^sqliteStore: .*limits\.db is out: .*malformed/)]);
  expect((await stat(file)).size).toBe(size);
});

/** Root may write everywhere, so it becomes another user meanwhile. */
async function asNobody<T>(work: () => Promise<T>): Promise<T> {
  if (!isRoot) return work();
  process.seteuid!(65_534);
  try {
    return await work();
  } finally {
    process.seteuid!(0);
  }
}

test.each(['a folder', 'a file'])('%s that may not be written is refused, with the remedy', async (which) => {
  const place = join(folder, 'place');
  await mkdir(place);
  const file = join(place, 'limits.db');
  if (which === 'a file') await writeFile(file, '');
  if (which === 'a file') await chmod(file, 0o444);
  await chmod(place, 0o555);
  const store = sqliteStore(file);
  opened.push(store);
  const error = await asNobody(() => rejection(store.connect()));
  expect(isStoreConfigurationError(error)).toBe(true);
  expect(error).toMatchObject({ message: expect.stringContaining('a folder that it may write') });
  await chmod(place, 0o755);
});
