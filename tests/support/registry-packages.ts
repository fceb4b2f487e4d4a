import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { publish, withLock } from './redis/lock.ts';
import { run } from './run.ts';

const CACHE = resolve(__dirname, '../../node_modules/.cache');

/**
 * Packages that are too large to install with the repository: a test installs them at its first run, and keeps them in
 * `node_modules/.cache`. Their install scripts do not run.
 * @param versions exact versions by name
 * @returns their `node_modules`
 */
export async function registryPackages(
  name: string,
  versions: Readonly<Record<string, string>>,
): Promise<string> {
  const wanted = Object.entries(versions).map((one) => one.join('@'));
  const id = createHash('sha256').update(wanted.join()).digest('hex').slice(0, 12);
  const folder = join(CACHE, `sluice-${name}`);
  const installed = join(folder, id);
  await mkdir(folder, { recursive: true });
  return withLock(join(folder, 'lock'), async () => {
    if (!existsSync(installed)) {
      const scratch = await mkdtemp(join(folder, 'scratch-'));
      await writeFile(join(scratch, 'package.json'), '{ "private": true }\n');
      const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--save-exact', ...wanted];
      const { ok, output } = await run('npm', args, { cwd: scratch, timeoutMs: 300_000 });
      if (!ok) throw new Error(`npm install ${wanted.join(' ')} failed:\n${output}`);
      await chmod(scratch, 0o755); // programs in it may run as another user
      await publish(scratch, installed);
    }
    return join(installed, 'node_modules');
  });
}
