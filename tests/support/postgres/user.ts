import { cp } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { run } from '../run.ts';
import type { PostgresBinaries } from './binaries.ts';

/** Who runs Postgres, which refuses to run as root: then it is `nobody`. */
export const POSTGRES_USER: { uid?: number; gid?: number } =
  process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

/** Gives a folder and all that is in it to the user that runs Postgres. */
export async function giveToPostgres(folder: string): Promise<void> {
  const { uid, gid } = POSTGRES_USER;
  if (uid === undefined) return;
  const { ok, output } = await run('chown', ['-R', `${uid}:${gid}`, folder]);
  if (!ok) throw new Error(`chown said: ${output}`);
}

/**
 * Binaries that the user of Postgres may run. It may not enter every folder of root's, such as a repository in `/root`: then these are a
 * copy.
 * @param folder where the copy goes; that user can read it
 */
export async function readableBinaries(
  binaries: PostgresBinaries,
  folder: string,
): Promise<PostgresBinaries> {
  const { postgres, initdb, env, root } = binaries;
  if ((await run(postgres, ['--version'], { env, cwd: folder, ...POSTGRES_USER })).ok) return binaries;
  const copy = join(folder, 'postgres');
  await cp(root, copy, { recursive: true, verbatimSymlinks: true });
  await giveToPostgres(copy);
  const moved = (file: string): string => join(copy, relative(root, file));
  const variables = Object.entries(env).map(([name, paths]) => [name, paths.split(':').map(moved).join(':')]);
  return {
    postgres: moved(postgres),
    initdb: moved(initdb),
    env: Object.fromEntries(variables),
    root: copy,
  };
}
