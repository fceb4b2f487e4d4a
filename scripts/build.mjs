// Builds every package as ES modules and CommonJS with declarations, then the examples that are compiled.
import { spawn } from 'node:child_process';
import { existsSync, renameSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { performance } from 'node:perf_hooks';
import { bundle } from './bundle.mjs';
import { writeDeclarations } from './declarations.mjs';
import { compiledExamples, entriesOf, root, stages, tsc } from './packages.mjs';

try {
  for (const stage of stages) await all(stage.map(({ folder }) => buildPackage(folder)));
  await all(compiledExamples().map(buildExample));
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}

function buildPackage(folder) {
  return build(folder, async (fresh) => {
    const project = join(folder, 'tsconfig.build.json');
    const [compiled, declared] = [join(fresh, 'compiled'), join(fresh, 'declared')];
    await all([
      // Types are checked once, by the other one.
      compile([
        '-p',
        project,
        '--outDir',
        compiled,
        '--declaration',
        'false',
        '--removeComments',
        '--noCheck',
      ]),
      compile(['-p', project, '--outDir', declared, '--emitDeclarationOnly']),
    ]);
    const entries = entriesOf(folder);
    await bundle(compiled, entries, fresh);
    writeDeclarations(declared, entries, fresh);
    for (const folder of [compiled, declared]) rmSync(folder, { recursive: true });
  });
}

function buildExample(folder) {
  return build(folder, (fresh) => compile(['-p', folder, '--outDir', fresh]));
}

/**
 * Compiles beside dist and swaps at the end, so that readers of dist never see a half build, and outputs of deleted sources vanish.
 */
async function build(folder, compileInto) {
  const start = performance.now();
  const fresh = join(folder, `.build-${process.pid}`);
  try {
    await compileInto(fresh);
    swap(fresh, join(folder, 'dist'));
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
  console.log(`built ${relative(root, folder)} in ${((performance.now() - start) / 1000).toFixed(1)} s`);
}

/** Another build may do the same at the same moment. The last one's folder stays, and each is complete. */
function swap(fresh, target) {
  for (let attempt = 1; ; attempt += 1) {
    const old = `${fresh}-${attempt}`;
    try {
      if (existsSync(target)) renameSync(target, old);
      return renameSync(fresh, target);
    } catch (error) {
      if (!['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes(error.code) || attempt === 100) throw error;
    } finally {
      rmSync(old, { recursive: true, force: true });
    }
  }
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

/** Waits for all of them before it rejects, so that every error is shown and no process keeps running. */
async function all(work) {
  const failed = (await Promise.allSettled(work)).filter(({ status }) => status === 'rejected');
  if (failed.length > 0) throw new Error(failed.map(({ reason }) => reason.message).join('\n'));
}
