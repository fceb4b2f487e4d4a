import { NEW_CASES, TEST_SEED } from '../../support/random.js';

/** The number of runs of a property, and its seed. */
export interface Runs {
  readonly numRuns: number;
  readonly seed: number;
}

/**
 * Runs of each differential property in the deep suite: as many as mutation-run.ts needs to find every mutant. New cases come from `npm run
 * test:random`. Use 100,000 (an hour) after a change of a Lua script.
 */
export const DEEP_RUNS = Number(process.env.SLUICE_DIFFERENTIAL_RUNS ?? (NEW_CASES ? 10_000 : 500));
/** Set it to the seed that a failure printed to repeat its histories. */
export const DEEP_SEED = TEST_SEED;

/** With this seed, these few histories contain every kind of answer. */
export const QUICK_RUNS = 80;
export const QUICK_SEED = NEW_CASES ? TEST_SEED : 1;
