import fc from 'fast-check';

/** The number of random cases; a fifth of it in `npm test`, where they are the same each time (see fixed-seed.ts). */
export const runs = (count: number): { numRuns: number } => ({
  numRuns: fc.readConfigureGlobal()?.seed === undefined ? count : Math.ceil(count / 5),
});
