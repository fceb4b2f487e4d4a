import type { Decision, PolicyDecision } from '../../decision.js';
import { describe } from '../../options.js';

/**
 * What a response calls a policy: `login` where it is the only one of limiter `login`, `api.perMinute` where it is one of several of
 * limiter `api`. So the limiters of one response have items of their own as long as they have names of their own.
 */
export const policyName = ({ name }: Decision, policy: PolicyDecision): string =>
  policy.name === name ? name : `${name}.${policy.name}`;

/**
 * The decision as clients are told of it, with another name for its limit.
 * @throws TypeError when the name is no text
 */
export function renamed(where: string, decision: Decision, name: string): Decision {
  if (typeof name !== 'string' || name === '') {
    throw new TypeError(`${where}: the function identifier gave ${describe(name)}; it must give text`);
  }
  const policies = decision.policies.map((policy) =>
    policy.name === decision.name ? { ...policy, name } : policy,
  );
  return { ...decision, name, policies };
}
