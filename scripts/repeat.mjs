// Runs each test file many times in a row while two busy loops use two cores, and prints the files that failed:
//   node scripts/repeat.mjs 20 tests/integration/nestjs/decorators.test.ts packages/core/src/pipeline
import { spawn, spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const jest = createRequire(import.meta.url).resolve('jest/bin/jest');
const cwd = fileURLToPath(new URL('..', import.meta.url));
const [times, ...paths] = process.argv.slice(2);
if (!(Number(times) > 0) || paths.length === 0) {
  throw new RangeError('node scripts/repeat.mjs <times> <test file or folder>...');
}

const run = (...args) => spawnSync(process.execPath, [jest, ...args], { cwd, encoding: 'utf8' });
const listed = run('--listTests', '--json', ...paths).stdout;
const files = JSON.parse(listed.slice(listed.indexOf('[')));

const busy = [1, 2].map(() => spawn(process.execPath, ['-e', 'for (;;) {}'], { stdio: 'ignore' }));
process.once('exit', () => {
  for (const loop of busy) loop.kill('SIGKILL');
});
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

let failures = 0;
for (const file of files) {
  let failed = 0;
  for (let i = 0; i < Number(times); i += 1) {
    const { status, stderr } = run('--runInBand', '--runTestsByPath', file);
    if (status === 0) continue;
    failed += 1;
    console.error(stderr);
  }
  failures += failed;
  console.log(
    `${failed === 0 ? 'ok  ' : 'FAIL'} ${Number(times) - failed} of ${times}  ${file.slice(cwd.length)}`,
  );
}
process.exitCode = failures === 0 ? 0 : 1;
