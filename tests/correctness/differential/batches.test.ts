import { compareBatches, expectedAnswers } from './batches-check.js';
import { QUICK_RUNS, QUICK_SEED } from './runs.js';

test(`a batch answers calls of one moment as one by one, over ${QUICK_RUNS} runs`, async () => {
  expect(await compareBatches(QUICK_RUNS, QUICK_SEED)).toEqual(expect.arrayContaining(expectedAnswers));
}, 120_000);
