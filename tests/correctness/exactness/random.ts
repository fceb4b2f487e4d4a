/** A whole number from 0 up to and without `below`. */
export type Random = (below: number) => number;

/** mulberry32: the same numbers in each run, so that a failure can be had again. */
export function randomFrom(seed: number): Random {
  let a = seed;
  return (below) => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 4_294_967_296) * below);
  };
}
