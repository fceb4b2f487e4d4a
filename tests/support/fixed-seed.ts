// The properties of a suite draw the same cases each time, so that its result does not depend on chance: see random.ts.
import { readFileSync } from 'node:fs';
import { TEST_SEED } from './random.js';

const { testPath } = expect.getState();
if (readFileSync(testPath!, 'utf8').includes("from 'fast-check'")) {
  // Loaded only by test files that use it: loading takes longer than many a test file.
  const fc = require('fast-check') as typeof import('fast-check');
  fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: TEST_SEED });
}
