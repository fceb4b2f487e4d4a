import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));

/** The packages in stages of the build. A package needs only packages of earlier stages, also those that it loads if they are there. */
export const stages = inStages(
  readdirSync(join(root, 'packages')).map((folder) => manifestOf(join(root, 'packages', folder))),
);

export const packages = stages.flat();

function manifestOf(folder) {
  const { name, dependencies, devDependencies } = JSON.parse(
    readFileSync(join(folder, 'package.json'), 'utf8'),
  );
  const needs = Object.keys(dependencies ?? {});
  return { name, folder, needs, before: [...needs, ...Object.keys(devDependencies ?? {})] };
}

function inStages(manifests) {
  if (manifests.length === 0) return [];
  const waits = ({ before }) => manifests.some(({ name }) => before.includes(name));
  const stage = manifests.filter((one) => !waits(one));
  if (stage.length === 0) throw new Error(`${manifests.map(({ name }) => name)} need each other`);
  return [stage, ...inStages(manifests.filter(waits))];
}

/** The folders of the packages for a framework, by their names: each exports the options of a limit on requests. */
export function frameworks() {
  const names = packages.map(({ folder }) => basename(folder)).filter((name) => name !== 'http');
  const indexOf = (name) => readFileSync(join(root, 'packages', name, 'src/index.ts'), 'utf8');
  return names.filter((name) => /\bRequestLimitOptions\b/.test(indexOf(name))).sort();
}

/** The entry points of a package, as paths in its `src` without an extension: `index`, `operations/index`. */
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
