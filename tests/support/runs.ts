import { NEW_CASES } from './random.js';

/** The number of random cases: all of them for new cases (`npm run test:random`), a fifth of them in `npm test` and the deep suite. */
export const runs = (count: number): { numRuns: number } => ({
  numRuns: NEW_CASES ? count : Math.ceil(count / 5),
});
