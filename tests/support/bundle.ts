import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';

/**
 * Bundles a TypeScript file and the sources of our packages into one file that plain Node runs.
 * @param sourceMap whether its source map is written beside it, as `file.map`
 * @param withPackages whether it can load the packages of this repository while it runs
 */
export async function bundle(source: string, { sourceMap = false, withPackages = false } = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bundle-'));
  const file = join(folder, 'main.cjs');
  if (withPackages) await symlink(resolve(__dirname, '../../node_modules'), join(folder, 'node_modules'));
  await build({
    entryPoints: [source],
    outfile: file,
    bundle: true,
    sourcemap: sourceMap && 'external',
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    conditions: ['@sluice/source'],
    logLevel: 'error',
  });
  return { file, remove: () => rm(folder, { recursive: true, force: true }) };
}
