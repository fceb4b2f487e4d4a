import { describe } from '../options.js';
import type { Algorithm, Policy, Rule } from './algorithm.js';
import { fixedWindowAlgorithm } from './fixed-window/fixed-window.js';
import { tokenBucketAlgorithm } from './token-bucket/token-bucket.js';

/** Every algorithm. A new one is a folder beside the others and a line here. */
export const algorithms: readonly Algorithm[] = [
  fixedWindowAlgorithm as Algorithm,
  tokenBucketAlgorithm as Algorithm,
];

/**
 * Turns a policy, which may come from a file, into a rule.
 * @throws TypeError when no algorithm has its name, RangeError when its numbers are not acceptable
 */
export function compilePolicy(policy: Policy): Rule {
  const algorithm = algorithms.find(({ name }) => name === policy?.algorithm);
  if (algorithm === undefined) {
    const names = algorithms.map(({ name }) => `${name}({ … })`).join(' or ');
    throw new TypeError(
      `policy must be made by ${names}, not ${describe(policy)} with algorithm ${describe(policy?.algorithm)}`,
    );
  }
  return algorithm.compile(policy);
}
