// Builds every package as ES modules and CommonJS with declarations, then the examples that are compiled.
//   node scripts/build.mjs              builds all
//   node scripts/build.mjs --if-stale   builds nothing when dist is what these sources gave
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { performance } from 'node:perf_hooks';
import { compiledExamples, packages, root, stages, tsc } from './packages.mjs';

const stamp = join(root, 'node_modules/.cache/sluice-build.txt');
const commonJs = ['--module', 'commonjs', '--moduleResolution', 'bundler', '--verbatimModuleSyntax', 'false'];

const fingerprint = sourcesFingerprint();
if (process.argv.includes('--if-stale') && isBuilt()) process.exit(0);

try {
  rmSync(stamp, { force: true });
  for (const stage of stages) await inParallel(stage.map((name) => () => buildPackage(name)));
  await inParallel(compiledExamples().map((folder) => () => buildExample(folder)));
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, fingerprint);
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}

/**
 * Compiles beside dist and swaps at the end, so that whoever reads dist meanwhile never sees half of it. The folder is as
 * deep as dist, for the source maps' paths.
 */
async function buildPackage(name) {
  const start = performance.now();
  const folder = join(root, 'packages', name);
  const fresh = join(folder, `.build-${process.pid}`);
  const project = join(folder, 'tsconfig.build.json');
  try {
    await inParallel([
      () => compile(['-p', project, '--outDir', join(fresh, 'esm')]),
      () => compile(['-p', project, '--outDir', join(fresh, 'cjs'), ...commonJs]),
    ]);
    writeFileSync(join(fresh, 'cjs/package.json'), '{ "type": "commonjs" }\n');
    const dist = join(folder, 'dist');
    const old = `${fresh}-old`;
    if (existsSync(dist)) renameSync(dist, old);
    renameSync(fresh, dist);
    rmSync(old, { recursive: true, force: true });
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
  report(folder, start);
}

async function buildExample(folder) {
  const start = performance.now();
  await compile(['-p', folder]);
  report(folder, start);
}

function compile(args) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [tsc, ...args], { cwd: root, stdio: 'inherit' });
    child.once('error', reject);
    child.once('close', (code) =>
      code === 0
        ? resolve()
        : reject(new Error(`tsc ${args.map((arg) => relative(root, arg) || arg).join(' ')} failed`)),
    );
  });
}

/** Lets all of them end before it fails, so that each one's errors are seen and nothing is left running. */
async function inParallel(tasks) {
  const failed = (await Promise.allSettled(tasks.map((task) => task()))).filter(({ reason }) => reason);
  if (failed.length > 0) throw new Error(failed.map(({ reason }) => reason.message).join('\n'));
}

function report(folder, start) {
  console.log(`built ${relative(root, folder)} in ${((performance.now() - start) / 1000).toFixed(1)} s`);
}

function isBuilt() {
  const built = packages.every(({ folder }) => existsSync(join(folder, 'dist/cjs/package.json')));
  return built && existsSync(stamp) && readFileSync(stamp, 'utf8') === fingerprint;
}

function sourcesFingerprint() {
  const hash = createHash('sha1');
  const inputs = packages.flatMap(({ folder }) => [
    join(folder, 'package.json'),
    join(folder, 'tsconfig.build.json'),
    ...filesUnder(join(folder, 'src')),
  ]);
  for (const file of [join(root, 'tsconfig.json'), join(root, 'tsconfig.build.json'), ...inputs]) {
    hash.update(`${relative(root, file)}\0`).update(readFileSync(file));
  }
  return hash.digest('hex');
}

function filesUnder(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .sort();
}
