import type { Parameters, Policy, Rule } from '../algorithms/algorithm.js';
import type { Limit } from '../call/limit.js';

/**
 * The parameters that override a limit for one key.
 * @param own the policy of the limit
 * @param given the policy that overrides it, and `other` its rule
 * @throws TypeError for a policy of another algorithm, or with other windows of a calendar
 */
export function overrideOf({ policy, rule }: Limit, own: Policy, given: Policy, other: Rule): Parameters {
  if (other.algorithm.tag !== rule.algorithm.tag) {
    throw new TypeError(
      `override: '${policy}' is ${own.algorithm} and can be overridden by other numbers of the same ` +
        `algorithm only, not by ${given.algorithm}`,
    );
  }
  if (other.calendar?.id !== rule.calendar?.id) {
    throw new TypeError(
      `override: '${policy}' keeps its windows if they, or those of the override, are of a calendar: give both policies the same ` +
        'window, timeZone and anchor, and change the limit only',
    );
  }
  return other.calendar?.head ?? other.parameters;
}
