// The properties of `npm test` draw the same cases each time, so that it passes or fails for everybody. `npm run test:deep` draws new ones.
import { readFileSync } from 'node:fs';

const { testPath } = expect.getState();
if (readFileSync(testPath!, 'utf8').includes("from 'fast-check'")) {
  // Loaded where it is used only: it takes longer than many a test file.
  const fc = require('fast-check') as typeof import('fast-check');
  fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: 42 });
}
