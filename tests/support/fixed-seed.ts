// The properties of a suite draw the same cases each time, so that it passes or fails for everybody: see random.ts.
import { readFileSync } from 'node:fs';
import { TEST_SEED } from './random.js';

const { testPath } = expect.getState();
if (readFileSync(testPath!, 'utf8').includes("from 'fast-check'")) {
  // Loaded where it is used only: it takes longer than many a test file.
  const fc = require('fast-check') as typeof import('fast-check');
  fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: TEST_SEED });
}
