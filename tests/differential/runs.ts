/** Runs of each differential property in the deep suite. 100,000 take an hour: for a change of a Lua script. */
export const DEEP_RUNS = Number(process.env.SLUICE_DIFFERENTIAL_RUNS ?? 10_000);
/** A seed that a failure printed repeats its histories. */
export const DEEP_SEED = process.env.SLUICE_DIFFERENTIAL_SEED ?? 'random';

/** In `npm test` the same histories every time, so that it fails for a change of ours only. */
export const QUICK_RUNS = 200;
export const QUICK_SEED = 42;
