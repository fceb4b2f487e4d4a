import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, rm, stat, utimes } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { publish, withLock } from '../../support/redis/lock.js';
import { run } from '../../support/run.js';

const root = resolve(__dirname, '../../..');
const cache = join(root, 'node_modules/.cache/sluice-packages');
const HOUR_MS = 3_600_000;

/** What the built packages are made of. */
const PARTS = [
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'scripts',
  'packages',
];

export const isSource = (path: string): boolean => !/^(?:dist|node_modules|\.build-.*)$/.test(basename(path));

/**
 * Builds and packs the packages of a copy of the sources, once for all test files that need them: `dist` in each package of the copy.
 * @returns the folder of the tarballs
 */
export async function buildPackages(workspace: string): Promise<string> {
  const made = join(cache, await hashOfSources());
  const tarballs = join(made, 'tarballs');
  await mkdir(cache, { recursive: true });
  await withLock(join(cache, 'lock'), async () => {
    if (existsSync(made)) {
      const now = new Date();
      await utimes(made, now, now);
    } else {
      await removeOld();
      await make(workspace, made);
    }
  });
  for (const name of await readdir(join(made, 'packages'))) {
    const [from, to] = [made, workspace].map((folder) => join(folder, 'packages', name, 'dist'));
    await cp(from!, to!, { recursive: true });
  }
  return tarballs;
}

async function make(workspace: string, made: string): Promise<void> {
  const fresh = `${made}-${process.pid}`;
  await script(workspace, 'build.mjs');
  await script(workspace, 'pack.mjs', join(fresh, 'tarballs'));
  for (const name of await readdir(join(workspace, 'packages'))) {
    const dist = join('packages', name, 'dist');
    await cp(join(workspace, dist), join(fresh, dist), { recursive: true });
  }
  await publish(fresh, made);
}

async function script(workspace: string, name: string, ...args: string[]): Promise<void> {
  const { ok, output } = await run(process.execPath, [join(workspace, 'scripts', name), ...args]);
  if (!ok) throw new Error(`${name} failed:\n${output}`);
}

/** What no test run has used for an hour. */
async function removeOld(): Promise<void> {
  for (const name of await readdir(cache)) {
    const { mtimeMs } = await stat(join(cache, name));
    if (Date.now() - mtimeMs > HOUR_MS) await rm(join(cache, name), { recursive: true });
  }
}

async function hashOfSources(): Promise<string> {
  const hash = createHash('sha256').update(process.version);
  const add = async (path: string): Promise<void> => {
    if (!isSource(path)) return;
    if ((await stat(path)).isDirectory()) {
      for (const name of (await readdir(path)).sort()) await add(join(path, name));
    } else {
      hash.update(`\0${path.slice(root.length)}\0`).update(await readFile(path));
    }
  };
  for (const part of PARTS) await add(join(root, part));
  return hash.digest('hex').slice(0, 32);
}
