import type { Decision, PolicyDecision } from '../../decision.js';

/**
 * What a response calls a policy: `login` where it is the only one of limiter `login`, `api.perMinute` where it is one of several of
 * limiter `api`. So the limiters of one response have items of their own as long as they have names of their own.
 */
export const policyName = ({ name }: Decision, policy: PolicyDecision): string =>
  policy.name === name ? name : `${name}.${policy.name}`;
