/**
 * @sluice/core as it is built, or in SLUICE_BENCH_CORE the file of another build, to measure that one.
 * @type {typeof import('@sluice/core')}
 */
export const core = await import(process.env.SLUICE_BENCH_CORE ?? '@sluice/core');
