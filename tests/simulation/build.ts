import { readFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { build } from 'esbuild';
import type { Mutant } from './mutants.js';

const ROOT = resolve(__dirname, '../..');

/** A bundle of product.ts, with the changes of a mutant. @throws Error if the mutant changes nothing */
export async function productBundle(mutant?: Mutant): Promise<string> {
  let changed = 0;
  const { outputFiles } = await build({
    entryPoints: [join(__dirname, 'product.ts')],
    write: false,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    conditions: ['@sluice/source'],
    external: ['@sluice/fleet', 'ioredis'],
    logLevel: 'error',
    plugins: [
      {
        name: 'mutant',
        setup(bundling) {
          if (mutant?.changes === undefined) return;
          bundling.onLoad({ filter: /packages\/.*\.ts$/ }, async ({ path }) => {
            const own = mutant.changes!.filter(({ file }) => relative(ROOT, path) === `packages/${file}`);
            if (own.length === 0) return undefined;
            let contents = await readFile(path, 'utf8');
            for (const { from, to } of own) {
              if (contents.split(from).length !== 2)
                throw new Error(`${mutant.name}: ${path} has not one ${from}`);
              contents = contents.replace(from, () => to);
              changed += 1;
            }
            return { contents, loader: 'ts' };
          });
        },
      },
    ],
  });
  if (changed !== (mutant?.changes?.length ?? 0)) throw new Error(`${mutant?.name}: a file was not loaded`);
  return outputFiles[0]!.text;
}
