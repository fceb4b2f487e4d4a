import { NEW_CASES, TEST_SEED } from '../../support/random.js';

/** How often a property is tried, and from which seed. */
export interface Runs {
  readonly numRuns: number;
  readonly seed: number;
}

/**
 * Runs of each differential property in the deep suite, and more where they are new. The mutants are found by fewer. Use 100,000 (an hour)
 * after a change of a Lua script.
 */
export const DEEP_RUNS = Number(process.env.SLUICE_DIFFERENTIAL_RUNS ?? (NEW_CASES ? 10_000 : 3_000));
/** The seed that a failure printed repeats its histories. */
export const DEEP_SEED = TEST_SEED;

/** With this seed, these few histories contain every kind of answer. */
export const QUICK_RUNS = 80;
export const QUICK_SEED = NEW_CASES ? TEST_SEED : 1;
