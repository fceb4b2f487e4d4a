import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from '../run.ts';

/**
 * Downloads Redis (or Valkey) and the libraries this machine lacks with the machine's own apt sources, and unpacks them
 * into `target`. Needs no root, and leaves the system's apt lists, cache, locks and packages as they are: apt is pointed at
 * folders under `scratch`.
 * @returns undefined when it worked, otherwise the reason
 */
export async function unpackDebianRedis(scratch: string, target: string): Promise<string | undefined> {
  if (!(await run('apt-get', ['--version'])).ok) return 'there is no apt-get';
  const archives = join(scratch, 'cache/archives');
  await mkdir(join(archives, 'partial'), { recursive: true });
  await mkdir(join(scratch, 'state/lists/partial'), { recursive: true });
  await mkdir(target, { recursive: true });
  const configuration = join(scratch, 'apt.conf');
  await writeFile(configuration, aptConfiguration(scratch));
  const apt = (...args: string[]) => run('apt-get', ['-c', configuration, '-q', ...args], { cwd: scratch });

  const update = await apt('update');
  let reason = update.output;
  for (const name of ['redis-server', 'valkey-server']) {
    const download = await apt('install', '--yes', '--download-only', '--no-install-recommends', name);
    if (download.ok) return unpack(archives, target);
    reason += download.output;
  }
  return `apt-get said: ${reason.trim().split('\n').slice(-3).join(' / ')}`;
}

/** Asking to "install, download only" makes apt name the libraries, whose packages differ from release to release. */
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
