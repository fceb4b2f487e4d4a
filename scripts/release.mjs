// Releases the versions that are in package.json.
//   npm run release                  builds, packs and checks, and prints what it would publish
//   npm run release -- --publish     also publishes; only in the workflow "Release", because provenance needs its identity
// Before it, `npm run changeset version` sets the versions.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { packAll } from './pack.mjs';
import { packages, root } from './packages.mjs';

/** Ends the program with its message. */
class ReleaseError extends Error {}

const folder = mkdtempSync(join(tmpdir(), 'sluice-release-'));
try {
  release(parseArgs({ options: { publish: { type: 'boolean', default: false } } }).values);
} catch (error) {
  console.error(error instanceof ReleaseError ? error.message : error);
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function release({ publish }) {
  const version = commonVersion();
  const pending = pendingChanges();
  if (publish) refuseUnless(pending);
  run(process.execPath, 'scripts/build.mjs');
  run(process.execPath, 'scripts/check-packages.mjs');
  // Packs the checked files once more. The tarballs are the same, because npm's tarballs contain no times.
  for (const { name, tarball } of packAll(folder)) {
    const args = ['publish', tarball, '--access', 'public', '--provenance'];
    if (!publish) console.log(`would run: npm ${args.join(' ').replace(folder, '…')}`);
    else if (isPublished(name, version)) console.log(`${name} ${version} is already published`);
    else run('npm', ...args);
  }
  if (publish) return;
  console.log(`Dry run: nothing was published. All packages have version ${version}.`);
  if (pending.length > 0) {
    console.log(`Run npm run changeset version first: no version has ${pending.join(', ')} yet.`);
  }
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
function refuseUnless(pending) {
  if (pending.length > 0) {
    throw new ReleaseError(
      `Changes without a version: ${pending.join(', ')}. Run npm run changeset version, and merge the result.`,
    );
  }
  if (!process.env.ACTIONS_ID_TOKEN_REQUEST_URL) {
    throw new ReleaseError(
      'Provenance needs the identity of a workflow run: start the workflow "Release" on GitHub.',
    );
  }
  const changed = capture('git', 'status', '--porcelain');
  if (changed !== '') throw new ReleaseError(`Commit these files, or remove them:\n${changed}`);
}

/** A release that stopped half-way continues where it stopped. */
function isPublished(name, version) {
  const { status, stdout } = spawnSync('npm', ['view', `${name}@${version}`, 'version'], {
    cwd: root,
    encoding: 'utf8',
  });
  return status === 0 && stdout.trim() === version;
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
