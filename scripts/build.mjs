// Builds every package as ES modules and CommonJS with declarations, then the examples that are compiled.
import { spawn } from 'node:child_process';
import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { performance } from 'node:perf_hooks';
import { compiledExamples, root, stages, tsc } from './packages.mjs';

const commonJs = ['--module', 'commonjs', '--moduleResolution', 'bundler', '--verbatimModuleSyntax', 'false'];

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
    await all([
      compile(['-p', project, '--outDir', join(fresh, 'esm')]),
      compile(['-p', project, '--outDir', join(fresh, 'cjs'), ...commonJs]),
    ]);
    writeFileSync(join(fresh, 'cjs/package.json'), '{ "type": "commonjs" }\n');
  });
}

function buildExample(folder) {
  return build(folder, (fresh) => compile(['-p', folder, '--outDir', fresh]));
}

/**
 * Compiles beside dist and swaps at the end: whoever reads dist meanwhile never sees half of it, and nothing stays of
 * sources that are gone. The folder is as deep as dist, for the source maps' paths.
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

/** Another build may do the same at the same moment: the last one's folder stays, and each is right. */
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

/** Lets all of them end before it fails, so that each one's errors are seen and nothing is left running. */
async function all(work) {
  const failed = (await Promise.allSettled(work)).filter(({ status }) => status === 'rejected');
  if (failed.length > 0) throw new Error(failed.map(({ reason }) => reason.message).join('\n'));
}
