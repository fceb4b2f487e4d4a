// Packs every package, and checks the tarballs with publint (strict), attw, and the size limits of package-sizes.json.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
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
  const limits = JSON.parse(readFileSync(join(root, 'scripts/package-sizes.json'), 'utf8'));
  for (const { name, tarball, ...sizes } of packAll(folder)) {
    const answers = await Promise.all([
      run(publint, ['run', tarball, '--strict']),
      run(attw, [tarball, '--no-emoji', '--format', 'ascii']),
    ]);
    const tooLarge = growth(sizes, limits[name] ?? limits.default).map((output) => ({ ok: false, output }));
    const failed = [...answers, ...tooLarge].filter(({ ok }) => !ok);
    const state = failed.length === 0 ? 'clean' : 'NOT CLEAN';
    const { size, unpackedSize, files } = sizes;
    console.log(`${state}: ${name}, ${kB(size)} packed, ${kB(unpackedSize)} unpacked, ${files} files`);
    for (const { output } of failed) console.log(output);
    if (failed.length > 0) process.exitCode = 1;
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** A sentence for each limit that is exceeded. */
function growth(sizes, limits) {
  return ['size', 'unpackedSize', 'files']
    .filter((measure) => !(sizes[measure] <= limits[measure]))
    .map(
      (measure) =>
        `${measure} is ${sizes[measure]}, but scripts/package-sizes.json allows ${limits[measure]}. Ship less, or raise the limit and say why.`,
    );
}

function kB(bytes) {
  return `${(bytes / 1000).toFixed(1)} kB`;
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
