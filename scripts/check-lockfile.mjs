// Checks after `npm install` that each installed package is the one of the committed package-lock.json: its version and its checksum.
// `npm ci` would do that, but refuses a lockfile without the optional packages of every platform.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './packages.mjs';

// The committed file, because `npm install` may have changed the one in the working tree.
const { status, stdout, stderr } = spawnSync('git', ['show', 'HEAD:package-lock.json'], {
  cwd: root,
  encoding: 'utf8',
  maxBuffer: 2 ** 26,
});
if (status !== 0) throw new Error(`git show HEAD:package-lock.json failed:\n${stderr}`);
const locked = JSON.parse(stdout).packages;
const installed = JSON.parse(readFileSync(join(root, 'node_modules/.package-lock.json'), 'utf8')).packages;

const others = Object.entries(installed).filter(
  ([path, { version, integrity }]) =>
    locked[path]?.version !== version || locked[path]?.integrity !== integrity,
);
for (const [path, { version }] of others) {
  const expected = locked[path]?.version ?? 'nothing';
  console.error(`${path}: ${version} is installed, but package-lock.json has ${expected}, or other contents`);
}
if (others.length > 0) {
  console.error('Run npm install, and commit package-lock.json if the change is intended');
  process.exitCode = 1;
}
