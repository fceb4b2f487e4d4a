/**
 * The seed of every random test. It is fixed, so that only a change of the code can make a test fail. `npm run test:random` sets another
 * seed each time, which makes new cases.
 */
export const TEST_SEED = Number(process.env.SLUICE_TEST_SEED ?? 42);

/** Whether this run has new cases: `npm run test:random`. */
export const NEW_CASES = process.env.SLUICE_TEST_SEED !== undefined;

/** A whole number from 0 to less than `below`. */
export type Random = (below: number) => number;

/** Numbers from 0 to less than 1, as from `Math.random`, but the same for the same seed: mulberry32. */
export function fractionsFrom(seed: number): () => number {
  let a = seed;
  return () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Whole random numbers for a seed. */
export function randomFrom(seed: number): Random {
  const fraction = fractionsFrom(seed);
  return (below) => Math.floor(fraction() * below);
}

/** The seed of a run within a test: by default the number of the run itself. */
export const seedOf = (run: number): number => (NEW_CASES ? (TEST_SEED + run * 1_000_003) | 0 : run);
