import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));

/** The packages, in the order in which they can be built: first come those that nothing else needs to be there for. */
export const stages = [['core'], ['express', 'fastify', 'koa', 'decorators']];

export const packages = stages.flat().map((name) => ({ name, folder: join(root, 'packages', name) }));

/** Examples that are compiled, and therefore come after the packages. */
export function compiledExamples() {
  const folder = join(root, 'examples');
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .map((name) => join(folder, name))
    .filter((path) => existsSync(join(path, 'tsconfig.json')));
}

/** `tsc` without npx, which costs half a second each time. */
export const tsc = join(root, 'node_modules/typescript/bin/tsc');
