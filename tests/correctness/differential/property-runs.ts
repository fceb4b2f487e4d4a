/** Parameters of a fast-check property, also from a command line. @param seed a whole number, or `random` */
export function propertyRuns(
  runs: number | string,
  seed: number | string,
): { numRuns: number; seed?: number } {
  return seed === 'random' ? { numRuns: Number(runs) } : { numRuns: Number(runs), seed: Number(seed) };
}
