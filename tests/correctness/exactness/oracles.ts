import type { Policy } from '../../../packages/core/src/algorithms/algorithm.js';
import { compilePolicy } from '../../../packages/core/src/algorithms/index.js';
import { merged } from '../../support/conformance/all.js';
import type { Case } from '../../support/conformance/conformance.js';
import { SECOND } from '../../support/conformance/subject-parts.js';
import { type Random, randomFrom } from '../../support/random.js';

export type { Case };

/** The rule of each mode of each algorithm whose permits are spent. */
export const cases = merged<(random: Random) => Case>(({ oracles }) => oracles);

export function canPrefetch(policy: Policy): boolean {
  const { algorithm, parameters } = compilePolicy(policy);
  return algorithm.prefetch?.narrow(parameters, SECOND) !== undefined;
}

/** Do its permits flow back one by one? */
export function isBucket(policy: Policy): boolean {
  const { algorithm, parameters } = compilePolicy(policy);
  return algorithm.figures.view(parameters, undefined, 0).kind === 'bucket';
}

/** Those of which permits can be prefetched. */
export const prefetchable: readonly string[] = Object.entries(cases).flatMap(([name, caseOf]) =>
  canPrefetch(caseOf(randomFrom(1)).policy) ? [name] : [],
);
