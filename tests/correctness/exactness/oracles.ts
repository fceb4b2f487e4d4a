import { compilePolicy } from '../../../packages/core/src/algorithms/index.js';
import { merged } from '../../support/conformance/all.js';
import type { Case } from '../../support/conformance/conformance.js';
import { SECOND } from '../../support/conformance/subject-parts.js';
import { type Random, randomFrom } from '../../support/random.js';

export type { Case };

/** The rule of each mode of each algorithm whose permits are spent. */
export const cases = merged<(random: Random) => Case>(({ oracles }) => oracles);

/** Those of which permits can be prefetched. */
export const prefetchable: readonly string[] = Object.entries(cases).flatMap(([name, caseOf]) => {
  const { algorithm, parameters } = compilePolicy(caseOf(randomFrom(1)).policy);
  return algorithm.prefetch?.narrow(parameters, SECOND) === undefined ? [] : [name];
});
