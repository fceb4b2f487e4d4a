import { NEW_CASES } from './random.js';

/** How many cases a test has: `few` in `npm test` and the deep suite, `many` when the cases are new (`npm run test:random`). */
export const cases = (few: number, many: number): number => (NEW_CASES ? many : few);

/** The number of random cases: all of them for new cases, a fifth of them in `npm test` and the deep suite. */
export const runs = (count: number): { numRuns: number } => ({ numRuns: cases(Math.ceil(count / 5), count) });
