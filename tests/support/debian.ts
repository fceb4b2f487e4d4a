import { existsSync, readdirSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { withLock } from './redis/lock.ts';
import { run } from './run.ts';

export interface DebianProgram {
  readonly command: string;
  readonly env: Readonly<Record<string, string>>;
}

export interface DebianPackages {
  /** A folder in `node_modules/.cache`, where they stay. */
  readonly cache: string;
  /** Tried in this order: the first that can be downloaded. */
  readonly packages: readonly string[];
  /** Whether they need libraries of other packages. */
  readonly libraries: boolean;
  /** The first that is there and prints its version. */
  readonly programs: readonly string[];
  /** Makes them print their version; default `--version`. */
  readonly versionFlag?: string;
}

const CACHE = resolve(__dirname, '../../node_modules/.cache');

/** Does it run on this machine? */
export const works = async ({ command, env }: DebianProgram, versionFlag = '--version'): Promise<boolean> =>
  (await run(command, [versionFlag], { env })).ok;

/** A program of PATH, of our cache, or of Debian's package. @throws Error when there is none */
export async function obtainProgram(
  program: string,
  debianPackage: string,
  options: Partial<Pick<DebianPackages, 'libraries' | 'versionFlag'>> = {},
): Promise<DebianProgram> {
  const installed = { command: program, env: {} };
  if (await works(installed, options.versionFlag)) return installed;
  const obtained = await debianProgram({
    cache: `sluice-${program}`,
    packages: [debianPackage],
    libraries: false,
    programs: [program],
    ...options,
  });
  if (typeof obtained !== 'string') return obtained;
  throw new Error(`This test needs ${program}: install ${debianPackage} (${obtained})`);
}

/**
 * A program of Debian's packages, downloaded with the machine's own apt sources if it is not in our cache. Needs no root, and leaves the
 * system's apt lists, cache, locks and packages as they are.
 * @returns the reason if there is none
 */
export async function debianProgram(wanted: DebianPackages): Promise<DebianProgram | string> {
  const folder = join(CACHE, wanted.cache);
  const root = join(folder, 'root');
  const present = await programIn(root, wanted);
  if (present !== undefined) return present;
  await mkdir(folder, { recursive: true });
  return withLock(join(folder, 'lock'), async () => {
    const already = await programIn(root, wanted); // by the process that held the lock before us
    if (already !== undefined) return already;
    const scratch = await mkdtemp(join(folder, 'scratch-'));
    try {
      const unpacked = join(scratch, 'root');
      const reason = await unpackDebian(scratch, unpacked, wanted);
      if (reason !== undefined) return reason;
      const refused = `${wanted.programs[0]} of the Debian package does not run on this machine`;
      if ((await programIn(unpacked, wanted)) === undefined) return refused;
      await rm(root, { recursive: true, force: true }); // the old installation does not run
      // Fails only if another process was faster. Then use its installation.
      await rename(unpacked, root).catch(() => undefined);
      return (await programIn(root, wanted)) ?? refused;
    } finally {
      await rm(scratch, { recursive: true, force: true });
    }
  });
}

async function programIn(
  root: string,
  { programs, versionFlag }: DebianPackages,
): Promise<DebianProgram | undefined> {
  const paths = programs.flatMap((name) => ['usr/bin', 'usr/sbin'].map((folder) => join(root, folder, name)));
  const command = paths.find((path) => existsSync(path));
  if (command === undefined) return undefined;
  const program = { command, env: { LD_LIBRARY_PATH: libraryFolders(root).join(':') } };
  return (await works(program, versionFlag)) ? program : undefined;
}

function libraryFolders(root: string): string[] {
  return ['usr/lib', 'lib'].flatMap((lib) => {
    const folder = join(root, lib);
    if (!existsSync(folder)) return [];
    return readdirSync(folder).flatMap((name) => (name.includes('-linux-') ? [join(folder, name)] : []));
  });
}

/** Downloads with apt, which is pointed at folders under `scratch`. @returns undefined when it worked, otherwise the reason */
async function unpackDebian(
  scratch: string,
  target: string,
  { packages, libraries }: DebianPackages,
): Promise<string | undefined> {
  if (!(await run('apt-get', ['--version'])).ok) return 'there is no apt-get';
  const archives = join(scratch, 'cache/archives');
  await mkdir(join(archives, 'partial'), { recursive: true });
  await mkdir(join(scratch, 'state/lists/partial'), { recursive: true });
  await mkdir(target, { recursive: true });
  const configuration = join(scratch, 'apt.conf');
  await writeFile(configuration, aptConfiguration(scratch));
  const apt = (...args: string[]) => run('apt-get', ['-c', configuration, '-q', ...args], { cwd: archives });
  // The command "install, download only" makes apt name the libraries, whose packages differ from release to release.
  const download = libraries
    ? ['install', '--yes', '--download-only', '--no-install-recommends']
    : ['download'];

  const update = await apt('update');
  let reason = update.output;
  for (const name of packages) {
    const downloaded = await apt(...download, name);
    if (downloaded.ok) return unpack(archives, target);
    reason += downloaded.output;
  }
  return `apt-get said: ${reason.trim().split('\n').slice(-3).join(' / ')}`;
}

function aptConfiguration(scratch: string): string {
  return `
Dir::State "${scratch}/state";
Dir::State::lists "${scratch}/state/lists";
Dir::State::status "/var/lib/dpkg/status";
Dir::Cache "${scratch}/cache";
Dir::Cache::archives "${scratch}/cache/archives";
Dir::Log "${scratch}";
Debug::NoLocking "true";
APT::Get::AllowUnauthenticated "false";
Acquire::Languages "none";
Acquire::Retries "3";
// root would download as the user _apt, which may not write here
APT::Sandbox::User "";
// images for containers delete the system's cache in these hooks
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear DPkg::Post-Invoke;
`;
}

async function unpack(archives: string, target: string): Promise<string | undefined> {
  for (const file of await readdir(archives)) {
    if (!file.endsWith('.deb')) continue;
    const { ok, output } = await run('dpkg', ['-x', join(archives, file), target]);
    if (!ok) return `dpkg -x ${file} said: ${output.trim()}`;
  }
  return undefined;
}
