import { conformances, merged } from '../../support/conformance/all.js';
import type { Case } from '../../support/conformance/conformance.js';
import type { Random } from '../../support/random.js';

export type { Case };

/** The rule of each mode of each algorithm whose permits are spent. */
export const cases = merged<(random: Random) => Case>(({ oracles }) => oracles);

/** Those of which permits can be prefetched. */
export const prefetchable: readonly string[] = conformances.flatMap(({ oracles = {}, notPrefetched = [] }) =>
  Object.keys(oracles).filter((name) => !notPrefetched.includes(name)),
);
