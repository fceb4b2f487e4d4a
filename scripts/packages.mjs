import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));

const named = (name) => ({ name: `@sluice/${name}`, folder: join(root, 'packages', name) });

/** The packages in stages of the build. A package needs only packages of earlier stages. */
export const stages = [
  ['core'],
  ['express', 'fastify', 'koa', 'fetch', 'decorators', 'otel', 'dashboard', 'rules'],
  ['nestjs', 'cli'],
].map((stage) => stage.map(named));

export const packages = stages.flat();

/** The entry points of a package, as paths in its `src` without an extension: `index`, `http/index`. */
export function entriesOf(folder) {
  const { exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return Object.values(exports).flatMap(
    ({ '@sluice/source': source }) => source?.match(/^\.\/src\/(.+)\.ts$/)?.[1] ?? [],
  );
}

/** Examples that are compiled, after the packages. */
export function compiledExamples() {
  const folder = join(root, 'examples');
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .map((name) => join(folder, name))
    .filter((path) => existsSync(join(path, 'tsconfig.json')));
}

/** `tsc` without npx, which costs half a second each time. */
export const tsc = join(root, 'node_modules/typescript/bin/tsc');
