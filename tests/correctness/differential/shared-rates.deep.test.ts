import { DEEP_RUNS, DEEP_SEED } from './runs.js';
import { compareSharedRates, expectedAnswers } from './shared-rates-check.js';

test(`Lua answers as TypeScript does, over ${DEEP_RUNS} random histories`, async () => {
  expect(await compareSharedRates(DEEP_RUNS, DEEP_SEED)).toEqual(expectedAnswers);
}, 3_600_000);
