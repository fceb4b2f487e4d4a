import { didYouMean, nearest, sharedByCopies, warnOnce } from '@sluice/core/internal';

const known = sharedByCopies('skippableNames', () => new Set<string>());

/** Makes the name of a limit known that `@SkipLimit` can skip. */
export const addSkippableName = (name: string): void => void known.add(name);

/**
 * Warns about names in `@SkipLimit` that no limit of this process has. Call it when a limit is applied: a name may also belong to another
 * limit of the same method, and all of these exist by then.
 */
export function warnOfUnknownSkips(skipped: readonly string[]): void {
  for (const name of skipped) {
    if (known.has(name)) continue;
    const remedy = didYouMean(nearest(name, known)) || `; known are ${[...known].slice(0, 10).join(', ')}`;
    warnOnce(
      'SLUICE_SKIPS_NOTHING',
      name,
      `@SkipLimit('${name}') skips nothing: no limit that can be skipped has this name${remedy}`,
    );
  }
}
