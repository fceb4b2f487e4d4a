import type { SpeedFacet } from './algorithm.js';

/** `expandRun` for windows: the run's last moment is the same after each call. */
export const expandWindowRun: NonNullable<SpeedFacet['expandRun']> = (_, cost, count, run, each) => {
  for (let i = 0; i < count; i += 1) each(run.remaining - i * cost, run.first);
};
