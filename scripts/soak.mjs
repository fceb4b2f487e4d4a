// Runs a program while its Redis fails in random ways, then checks the program's state: `npm run soak -- --minutes 10`.
import { randomInt } from 'node:crypto';
import { createRequire } from 'node:module';
import { parseArgs } from 'node:util';

// Before the tests read it.
process.env.SLUICE_TEST_SEED ??= String(randomInt(2 ** 31));
const require = createRequire(import.meta.url);
require('esbuild-register/dist/node').register();
const { soak } = require('../tests/faults/soak/soak.ts');
const { complaints, tables } = require('../tests/faults/soak/verdict.ts');

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '10' } } });
const minutes = Number(values.minutes);
if (!(minutes > 0)) throw new RangeError(`--minutes must be above 0, not ${values.minutes}`);

/** Longest fault, ms. */
const LONGEST = 3_000;

console.log(`${minutes} minutes of faults, SLUICE_TEST_SEED=${process.env.SLUICE_TEST_SEED}`);
const outcome = await soak(minutes * 60_000, LONGEST);
console.log(`\n${tables(outcome)}\n`);
const found = complaints(outcome);
for (const complaint of found) console.error(`WRONG: ${complaint}`);
process.exitCode = found.length === 0 ? 0 : 1;
