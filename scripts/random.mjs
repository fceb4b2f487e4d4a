// Runs the tests that have random cases, with new cases: `npm run test:random -- --minutes 30`.
// It runs them again and again, each time from another seed, which it prints, until the time is over. Make a fixed test of each finding.
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { minutes: { type: 'string' }, seed: { type: 'string' } },
});
const minutes = Number(values.minutes ?? 0);
if (!(minutes >= 0)) throw new RangeError(`--minutes must be at least 0, not ${values.minutes}`);
const given = values.seed === undefined ? undefined : Number(values.seed);
if (given !== undefined && !Number.isInteger(given))
  throw new RangeError(`--seed must be a whole number, not ${values.seed}`);

const jest = createRequire(import.meta.url).resolve('jest/bin/jest');
const cwd = fileURLToPath(new URL('..', import.meta.url));
const until = performance.now() + minutes * 60_000;
const failed = [];
let rounds = 0;
do {
  const seed = given ?? randomInt(2 ** 31);
  rounds += 1;
  console.log(`\nround ${rounds}: --seed ${seed}`);
  const { status } = spawnSync(process.execPath, [jest, '--selectProjects', 'random', '--', ...positionals], {
    cwd,
    stdio: 'inherit',
    env: { ...process.env, SLUICE_TEST_SEED: String(seed) },
  });
  if (status !== 0) failed.push(seed);
} while (given === undefined && performance.now() < until);

console.log(`\n${rounds} rounds, ${failed.length} failed`);
for (const seed of failed) console.error(`FAILED: npm run test:random -- --seed ${seed}`);
process.exitCode = failed.length === 0 ? 0 : 1;
