/** Runs of each differential property in the deep suite. Use 100,000 (an hour) after a change of a Lua script. */
export const DEEP_RUNS = Number(process.env.SLUICE_DIFFERENTIAL_RUNS ?? 10_000);
/** The seed that a failure printed repeats its histories. */
export const DEEP_SEED = process.env.SLUICE_DIFFERENTIAL_SEED ?? 'random';

/**
 * `npm test` uses the same histories every time, so that only a change of the code can make it fail. With this seed, these few contain
 * every kind of answer.
 */
export const QUICK_RUNS = 80;
export const QUICK_SEED = 1;
