import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, mkdtemp, rename, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';

/**
 * Bundles a TypeScript file and the sources of our packages into one file that plain Node runs. Test files of one run that want the same
 * bundle get copies.
 * @param sourceMap whether its source map is written beside it, as `file.map`
 * @param withPackages whether it can load the packages of this repository while it runs
 */
export async function bundle(source: string, { sourceMap = false, withPackages = false } = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bundle-'));
  const file = join(folder, 'main.cjs');
  if (withPackages) await symlink(resolve(__dirname, '../../node_modules'), join(folder, 'node_modules'));
  if (sourceMap) await make(source, file, 'external');
  else await copyFile(await madeOnce(source), file);
  return { file, remove: () => rm(folder, { recursive: true, force: true }) };
}

/** The bundle of this run. Two test files that want it at the same moment both make it. */
async function madeOnce(source: string): Promise<string> {
  const id = createHash('sha256').update(source).digest('hex');
  const made = join(process.env.SLUICE_TEST_BUNDLES!, `${id}.cjs`);
  if (!existsSync(made)) {
    const fresh = `${made}-${randomUUID()}`;
    await make(source, fresh);
    await rename(fresh, made);
  }
  return made;
}

async function make(source: string, outfile: string, sourcemap?: 'external'): Promise<void> {
  await build({
    entryPoints: [source],
    outfile,
    bundle: true,
    ...(sourcemap && { sourcemap }),
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    conditions: ['@sluice/source'],
    logLevel: 'error',
  });
}
