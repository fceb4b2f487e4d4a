import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, mkdtemp, rename, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';

/**
 * Bundles a TypeScript file and the sources of our packages into one file that plain Node runs. Test files of one run that want the same
 * bundle get copies of it; outside of Jest each call makes its own.
 * @param sourceMap whether its source map is written beside it, as `file.map`
 * @param withPackages whether it can load the packages of this repository while it runs
 */
export async function bundle(source: string, { sourceMap = false, withPackages = false } = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bundle-'));
  const file = join(folder, 'main.cjs');
  if (withPackages) await symlink(resolve(__dirname, '../../node_modules'), join(folder, 'node_modules'));
  const shared = process.env.SLUICE_TEST_BUNDLES;
  if (sourceMap || shared === undefined) await writeBundle(source, file, sourceMap);
  else await copyFile(await sharedBundle(source, shared), file);
  return { file, remove: () => rm(folder, { recursive: true, force: true }) };
}

/** The bundle of this run. Two test files that want it at the same moment both make it. */
async function sharedBundle(source: string, folder: string): Promise<string> {
  const id = createHash('sha256').update(source).digest('hex');
  const file = join(folder, `${id}.cjs`);
  if (!existsSync(file)) {
    const unfinished = join(folder, randomUUID());
    await writeBundle(source, unfinished);
    await rename(unfinished, file);
  }
  return file;
}

async function writeBundle(source: string, outfile: string, sourceMap = false): Promise<void> {
  await build({
    entryPoints: [source],
    outfile,
    bundle: true,
    sourcemap: sourceMap && 'external',
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    conditions: ['@sluice/source'],
    logLevel: 'error',
  });
}
