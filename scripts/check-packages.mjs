// Packs every package and lets publint (as strict as it can be) and attw judge what users would download.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packAll } from './pack.mjs';
import { packages, root } from './packages.mjs';

const publint = join(root, 'node_modules/publint/src/cli.js');
const attw = join(root, 'node_modules/@arethetypeswrong/cli/dist/index.js');

const unbuilt = packages.filter(({ folder }) => !existsSync(join(folder, 'dist/cjs/package.json')));
if (unbuilt.length > 0) {
  console.error(`not built: ${unbuilt.map(({ name }) => name).join(', ')}; run npm run build first`);
  process.exit(1);
}

const folder = mkdtempSync(join(tmpdir(), 'sluice-pack-'));
try {
  for (const { name, tarball } of packAll(folder)) {
    const answers = await Promise.all([
      run(publint, ['run', tarball, '--strict']),
      run(attw, [tarball, '--no-emoji', '--format', 'ascii']),
    ]);
    const failed = answers.filter(({ ok }) => !ok);
    console.log(`${failed.length === 0 ? 'clean' : 'NOT CLEAN'}: ${name}`);
    for (const { output } of failed) console.log(output);
    if (failed.length > 0) process.exitCode = 1;
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function run(script, args) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [script, ...args]);
    let output = '';
    child.stdout.on('data', (data) => (output += data));
    child.stderr.on('data', (data) => (output += data));
    child.once('error', (error) => resolve({ ok: false, output: error.message }));
    child.once('close', (code) => resolve({ ok: code === 0, output }));
  });
}
