import { NEW_CASES, TEST_SEED } from '../../support/random.js';

/** How often a property is tried, and from which seed. */
export interface Runs {
  readonly numRuns: number;
  readonly seed: number;
}

/** Runs of each differential property in the deep suite. Use 100,000 (an hour) after a change of a Lua script. */
export const DEEP_RUNS = Number(process.env.SLUICE_DIFFERENTIAL_RUNS ?? 10_000);
/** The seed that a failure printed repeats its histories. */
export const DEEP_SEED = TEST_SEED;

/** With this seed, these few histories contain every kind of answer. */
export const QUICK_RUNS = 80;
export const QUICK_SEED = NEW_CASES ? TEST_SEED : 1;
