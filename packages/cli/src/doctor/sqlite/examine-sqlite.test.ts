import { StoreUnavailableError } from '@sluice/core';
import type { SqliteFacts, SqliteStore } from '@sluice/sqlite';
import { examineSqlite } from './examine-sqlite.js';

const GOOD: SqliteFacts = {
  driver: 'libsql',
  version: '3.45.1',
  journalMode: 'wal',
  fileSize: 1_240_000,
  journalSize: 410_000,
  disk: { size: 105e9, free: 52e9 },
  damage: undefined,
};

const examined = (facts: Partial<SqliteFacts> | Error) => {
  const readFacts = async () => {
    if (facts instanceof Error) throw facts;
    return { ...GOOD, ...facts };
  };
  return examineSqlite({ file: 'limits.db', facts: readFacts } as unknown as SqliteStore, false);
};

test('a file without faults has three findings, all ok', async () => {
  expect((await examined({})).map(({ id, level, what }) => `${level} ${id}: ${what}`)).toEqual([
    'ok file: limits.db: 1.24 MB, by libsql, SQLite 3.45.1',
    'ok journal: journal mode wal, 0.41 MB',
    'ok disk: a disk of this machine, 52000 MB of 105000 MB are free',
  ]);
});

test.each<[Partial<SqliteFacts> | Error, string, string]>([
  [{ journalSize: 70e6 }, 'warning', 'journal-large'],
  [{ damage: 'row 7 missing from index' }, 'error', 'file-damaged'],
  [{ disk: { size: 10e9, free: 90e6 } }, 'warning', 'disk-low'],
  [{ disk: { size: 100e9, free: 1e9 } }, 'warning', 'disk-low'],
  [new StoreUnavailableError('full', { reason: 'connection' }), 'error', 'file-out'],
])('of %p it reports %s %s, with a reason and a remedy', async (facts, level, id) => {
  const found = (await examined(facts)).filter((one) => one.level !== 'ok');
  expect(found).toEqual([expect.objectContaining({ level, id })]);
  expect(found[0]!.why).not.toBe('');
  expect(found[0]!.fix).not.toBe('');
});
