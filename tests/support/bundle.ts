import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';

/** A TypeScript file made into one that plain Node runs, from the sources of all packages. */
export async function bundle(source: string) {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bundle-'));
  const file = join(folder, 'main.cjs');
  await build({
    entryPoints: [source],
    outfile: file,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    conditions: ['@sluice/source'],
    logLevel: 'error',
  });
  return { file, remove: () => rm(folder, { recursive: true, force: true }) };
}
