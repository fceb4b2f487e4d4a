import { compareBatches, expectedAnswers } from './batches-check.js';
import { DEEP_RUNS, DEEP_SEED } from './runs.js';

test(`a batch answers calls of one moment as one by one, over ${DEEP_RUNS} random runs`, async () => {
  expect(await compareBatches(DEEP_RUNS, DEEP_SEED)).toEqual(expect.arrayContaining(expectedAnswers));
}, 3_600_000);
