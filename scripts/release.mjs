// Releases the versions that are in package.json.
//   npm run release                       builds, packs and checks, and prints what would be published
//   npm run release -- --no-build         checks and packs what was built before
//   npm run release -- --pack <folder>    also writes the tarballs there, and packages.txt, the list of them in the order of publishing
// The workflow "Release" publishes them, because provenance needs its identity. Before it, `npm run changeset version` sets the versions.
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { packAll } from './pack.mjs';
import { packages, root } from './packages.mjs';

/** Ends the program with its message. */
class ReleaseError extends Error {}

const folder = mkdtempSync(join(tmpdir(), 'sluice-release-'));
try {
  release(
    parseArgs({ options: { pack: { type: 'string' }, 'no-build': { type: 'boolean', default: false } } })
      .values,
  );
} catch (error) {
  console.error(error instanceof ReleaseError ? error.message : error);
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function release({ pack: target, 'no-build': isBuilt }) {
  if (isBuilt && target !== undefined) {
    throw new ReleaseError('--pack builds what it writes: leave --no-build out');
  }
  const version = commonVersion();
  const pending = pendingChanges();
  if (target !== undefined) refuseUnlessCommitted(pending);
  if (!isBuilt) run(process.execPath, 'scripts/build.mjs');
  run(process.execPath, 'scripts/check-packages.mjs');
  // Packs the checked files once more. The tarballs are the same, because npm's tarballs contain no times.
  const packed = packAll(folder);
  for (const { tarball } of packed) {
    console.log(`would run: npm publish …/${basename(tarball)} --access public --provenance`);
  }
  if (target !== undefined) write(resolve(target), packed, version);
  console.log(`Nothing was published. All packages have version ${version}.`);
  if (pending.length > 0) {
    console.log(`Run npm run changeset version first: no version has ${pending.join(', ')} yet.`);
  }
}

/** What the job that publishes downloads. A package is listed after the packages that it needs. */
function write(target, packed, version) {
  mkdirSync(target, { recursive: true });
  for (const { tarball } of packed) copyFileSync(tarball, join(target, basename(tarball)));
  const lines = packed.map(({ name, tarball }) => `${name}@${version} ${basename(tarball)}\n`);
  writeFileSync(join(target, 'packages.txt'), lines.join(''));
}

/** All packages of a release have one version, and depend on each other in that version. */
function commonVersion() {
  const manifests = packages.map(({ folder }) =>
    JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')),
  );
  const { version } = manifests[0];
  for (const { name, version: own, dependencies = {} } of manifests) {
    const siblings = Object.entries(dependencies).filter(([dependency]) => dependency.startsWith('@sluice/'));
    for (const [what, found] of [[name, own], ...siblings]) {
      if (found === version) continue;
      throw new ReleaseError(`${name}: ${what} has version ${found}, but this release is ${version}`);
    }
  }
  return version;
}

function pendingChanges() {
  return readdirSync(join(root, '.changeset')).filter((file) => /^(?!README).*\.md$/.test(file));
}

/** Checks everything first, because a published package cannot be withdrawn. */
function refuseUnlessCommitted(pending) {
  if (pending.length > 0) {
    throw new ReleaseError(
      `Changes without a version: ${pending.join(', ')}. Run npm run changeset version, and merge the result.`,
    );
  }
  const changed = capture('git', 'status', '--porcelain');
  if (changed !== '') throw new ReleaseError(`Commit these files, or remove them:\n${changed}`);
}

function run(command, ...args) {
  const { status } = spawnSync(command, args, { cwd: root, stdio: 'inherit' });
  if (status !== 0) throw new ReleaseError(`${command} ${args.join(' ')} failed; nothing after it was done`);
}

function capture(command, ...args) {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: root, encoding: 'utf8' });
  if (status !== 0) throw new ReleaseError(`${command} ${args.join(' ')} failed:\n${stderr}`);
  return stdout.trim();
}
