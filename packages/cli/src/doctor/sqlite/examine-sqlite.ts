import { isStoreConfigurationError, isStoreUnavailableError } from '@sluice/core';
import type { SqliteFacts, SqliteStore } from '@sluice/sqlite';
import { type Report, reportInto } from '../check.js';
import type { Finding } from '../finding.js';

/** Findings about a file of SQLite, each with its reason. */
export const SQLITE_WHY = {
  'file-refused': 'Calls reject with StoreConfigurationError.',
  'file-out': 'Limiters get no decision from this file: their failurePolicy decides.',
  'file-damaged': 'A call whose key is on a damaged page is decided by the failurePolicy.',
  'journal-large':
    'A process that has read for a long time, or was frozen, keeps the journal from being written into the file: it grows, and reading gets slower.',
  'disk-low': 'When the disk is full, no key gets a count: the failurePolicy decides.',
} as const;

type Id = keyof typeof SQLITE_WHY;

const [KB, MB] = [1000, 1_000_000];
/** The journal is written into the file each time it has 4 MB. */
const LARGE_JOURNAL = 64 * MB;
/** Less than this, or than this share of the disk, is little. */
const [LITTLE, LITTLE_SHARE] = [100 * MB, 0.02];

/** Examines the file of a store. @param scan also reads the whole file for damage. Errors of the file are findings */
export async function examineSqlite(store: SqliteStore, scan: boolean): Promise<Finding[]> {
  const findings: Finding[] = [];
  const reportOf = (about: string) => reportInto(findings, { about, why: SQLITE_WHY }) as Report<Id>;
  try {
    reportFacts(await store.facts({ scan }), store.file, reportOf);
  } catch (error) {
    if (isStoreConfigurationError(error))
      reportOf('file').error('file-refused', error.message, 'Do what the message says.');
    else if (isStoreUnavailableError(error))
      reportOf('file').error(
        'file-out',
        error.message,
        'Free the disk; or restore the file, or remove it with its -wal and -shm: counts begin again.',
      );
    else throw error;
  }
  return findings;
}

function reportFacts(
  { driver, version, journalMode, fileSize, journalSize, disk, damage }: SqliteFacts,
  file: string,
  reportOf: (about: string) => Report<Id>,
): void {
  reportOf('file').ok(`${file}: ${sizeText(fileSize)}, by ${driver}, SQLite ${version}`);
  const journal = `journal mode ${journalMode}, ${sizeText(journalSize)}`;
  if (journalSize < LARGE_JOURNAL) reportOf('journal').ok(journal);
  else
    reportOf('journal').warning(
      'journal-large',
      journal,
      'End processes that have the file open and are stopped, such as a shell of sqlite3; then run PRAGMA wal_checkpoint(TRUNCATE).',
    );
  if (damage === '') reportOf('content').ok('quick_check found no damage');
  else if (damage !== undefined)
    reportOf('content').error(
      'file-damaged',
      `quick_check: ${damage}`,
      'Stop the processes, and remove the file with its -wal and -shm: counts begin again.',
    );
  if (disk === undefined) return;
  const free = `${sizeText(disk.free)} of ${sizeText(disk.size)} are free`;
  if (disk.free >= Math.min(LITTLE, disk.size / 2) && disk.free >= LITTLE_SHARE * disk.size)
    reportOf('disk').ok(`a disk of this machine, ${free}`);
  else reportOf('disk').warning('disk-low', free, 'Free space, or move the file: sluice copy carries it.');
}

const sizeText = (bytes: number): string =>
  bytes < MB / 10
    ? `${Math.ceil(bytes / KB)} kB`
    : `${Number((bytes / MB).toFixed(bytes < 10 * MB ? 2 : 0))} MB`;
