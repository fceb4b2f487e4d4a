import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { publish, withLock } from '../redis/lock.ts';
import { run } from '../run.ts';
import type { PostgresBinaries } from './binaries.ts';
import { giveToPostgres, POSTGRES_USER, readableBinaries } from './user.ts';

const CACHE = resolve(__dirname, '../../../node_modules/.cache/sluice-postgres-template');
/** The superuser. */
export const USER = 'postgres';

/**
 * Copies the data folder of an empty server into `folder`. `initdb` takes seconds, so it runs once for all tests, and its result is kept
 * in `node_modules/.cache`. All copies are of one cluster: one can be the replica of another.
 * @returns the password of the superuser
 */
export async function copyTemplate(binaries: PostgresBinaries, folder: string): Promise<string> {
  const template = await templateOf(binaries);
  await copy(join(template, 'data'), folder);
  await giveToPostgres(folder);
  return readFile(join(template, 'password'), 'utf8');
}

async function templateOf(binaries: PostgresBinaries): Promise<string> {
  const { output } = await run(binaries.postgres, ['--version'], { env: binaries.env });
  const id = createHash('sha256').update(`${output} ${process.getuid?.()}`).digest('hex');
  const template = join(CACHE, id.slice(0, 12));
  if (existsSync(template)) return template;
  await mkdir(CACHE, { recursive: true });
  return withLock(join(CACHE, 'lock'), async () => {
    if (!existsSync(template)) await makeTemplate(binaries, template);
    return template;
  });
}

async function makeTemplate(binaries: PostgresBinaries, template: string): Promise<void> {
  const work = await mkdtemp(join(tmpdir(), 'sluice-initdb-'));
  const scratch = await mkdtemp(join(CACHE, 'scratch-'));
  try {
    const [data, passwordFile] = [join(work, 'data'), join(work, 'password')];
    await mkdir(data);
    await writeFile(passwordFile, randomUUID());
    await chmod(work, 0o755);
    const { initdb, env } = await readableBinaries(binaries, work);
    await giveToPostgres(work);
    const args = [
      `--pgdata=${data}`,
      `--username=${USER}`,
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      '--locale=C',
      '--wal-segsize=1',
      '--no-sync',
      '--no-instructions',
    ];
    const made = await run(initdb, args, { env: { ...env, TZ: 'UTC' }, cwd: work, ...POSTGRES_USER });
    if (!made.ok) throw new Error(`initdb said: ${made.output}`);
    await copy(data, join(scratch, 'data'));
    await copy(passwordFile, join(scratch, 'password'));
    await publish(scratch, template);
  } finally {
    for (const folder of [work, scratch]) await rm(folder, { recursive: true, force: true });
  }
}

/** Not `fs.cp`, which takes several times as long for a thousand files. */
async function copy(from: string, to: string): Promise<void> {
  const { ok, output } = await run('cp', ['-R', from, to]);
  if (!ok) throw new Error(`cp said: ${output}`);
}
