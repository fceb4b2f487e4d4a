import type { Decision, PolicyDecision } from '../../limiter/decision.js';
import { describe } from '../../options.js';

/**
 * What a response calls a policy: `login` where it is the only one of limiter `login`, `api.perMinute` where it is one of several of
 * limiter `api`. So the limiters of one response have items of their own as long as they have names of their own.
 */
export const policyName = ({ name }: Decision, policy: PolicyDecision): string =>
  policy.name === name ? name : `${name}.${policy.name}`;

/**
 * The decision under the public name of its limit.
 * @throws TypeError if the name is not a string
 */
export function renamed(where: string, decision: Decision, name: string): Decision {
  if (typeof name !== 'string' || name === '') {
    throw new TypeError(
      `${where}: the identifier function returned ${describe(name)}; it must return a string`,
    );
  }
  const policies = decision.policies.map((policy) =>
    policy.name === decision.name ? { ...policy, name } : policy,
  );
  return { ...decision, name, policies };
}
