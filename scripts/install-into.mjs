// Installs packages of this repository into another project, as if they were on npm:
//   npm run install-into -- ../my-app express ioredis
//   npm run install-into -- ../my-app cli --with pnpm
// Builds and packs them, copies the tarballs of the named packages and of all that these need into `vendor/` of the project, and runs its
// package manager: the one of its lockfile, otherwise npm. Other names, such as ioredis or express@5, come from the registry.
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { parseDocument } from 'yaml';
import { packAll } from './pack.mjs';
import { packages, root } from './packages.mjs';

const LOCKFILES = { 'pnpm-lock.yaml': 'pnpm', 'yarn.lock': 'yarn' };

/** How each package manager installs tarballs, and takes from a tarball what another one of them needs. */
const MANAGERS = {
  npm: (_project, specs, others) => ['install', ...Object.values(specs), ...others],
  pnpm(project, specs, others) {
    const file = join(project, 'pnpm-workspace.yaml');
    const workspace = parseDocument(existsSync(file) ? readFileSync(file, 'utf8') : '');
    for (const [name, spec] of Object.entries(specs)) workspace.setIn(['overrides', name], spec);
    writeFileSync(file, String(workspace));
    return ['add', ...Object.values(specs), ...others];
  },
  yarn(project, specs, others) {
    const file = join(project, 'package.json');
    const manifest = JSON.parse(readFileSync(file, 'utf8'));
    manifest.resolutions = { ...manifest.resolutions, ...specs };
    writeFileSync(file, `${JSON.stringify(manifest, undefined, 2)}\n`);
    return ['add', ...Object.entries(specs).map(([name, spec]) => `${name}@${spec}`), ...others];
  },
};

try {
  main();
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}

function main() {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { with: { type: 'string' }, 'no-build': { type: 'boolean' } },
  });
  const [folder, ...names] = positionals;
  if (names.length === 0) {
    throw new Error(
      'Name a project and the packages for it: npm run install-into -- ../my-app express ioredis',
    );
  }
  const project = resolve(process.env.INIT_CWD ?? '.', folder);
  if (!existsSync(join(project, 'package.json'))) {
    throw new Error(`${project} has no package.json: run npm init -y there first`);
  }
  const manager = values.with ?? managerOf(project);
  if (!Object.hasOwn(MANAGERS, manager)) throw new Error(`--with takes npm, pnpm or yarn, not ${manager}`);
  const ours = new Set(names.flatMap((name) => withNeeds(nameOfOurs(name))));
  if (ours.size === 0) {
    throw new Error(
      `None of ${names.join(', ')} is a package of this repository: ${packages.map(({ name }) => name).join(', ')}`,
    );
  }
  const others = names.filter((name) => nameOfOurs(name) === undefined);
  if (!values['no-build']) run(process.execPath, [join(root, 'scripts/build.mjs')], root);
  const specs = vendor(project, ours);
  run(manager, MANAGERS[manager](project, specs, others), project);
}

function managerOf(project) {
  return Object.entries(LOCKFILES).find(([file]) => existsSync(join(project, file)))?.[1] ?? 'npm';
}

function nameOfOurs(given) {
  return packages.find(({ name }) => name === given || name === `@sluice/${given}`)?.name;
}

/** The package and those of ours that it cannot do without. Others are none of ours. */
function withNeeds(name) {
  const found = packages.find((one) => one.name === name);
  if (found === undefined) return [];
  const { folder } = found;
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const peers = Object.keys(manifest.peerDependencies ?? {}).filter(
    (peer) => !manifest.peerDependenciesMeta?.[peer]?.optional,
  );
  const needs = [...Object.keys(manifest.dependencies ?? {}), ...peers];
  return [name, ...needs.flatMap(withNeeds)];
}

/** Copies the tarballs. @returns how the project names each: `file:./vendor/…`, by the name of the package */
function vendor(project, names) {
  const scratch = mkdtempSync(join(tmpdir(), 'sluice-pack-'));
  try {
    mkdirSync(join(project, 'vendor'), { recursive: true });
    const packed = packAll(scratch).filter(({ name }) => names.has(name));
    for (const { tarball } of packed) copyFileSync(tarball, join(project, 'vendor', basename(tarball)));
    return Object.fromEntries(
      packed.map(({ name, tarball }) => [name, `file:./vendor/${basename(tarball)}`]),
    );
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

function run(command, args, cwd) {
  const { status, error } = spawnSync(command, args, { cwd, stdio: 'inherit' });
  if (error) throw new Error(`${command} cannot be started: ${error.message}`);
  if (status !== 0) throw new Error(`${[command, ...args].join(' ')} failed in ${cwd}`);
}
