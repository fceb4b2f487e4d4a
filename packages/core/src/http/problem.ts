import type { Decision } from '../decision.js';
import { policyName } from './headers/policy-name.js';

/** An RFC 9457 problem that says which policy was exceeded, as the RateLimit draft defines it. */
export interface RateLimitProblem {
  readonly type: 'https://iana.org/assignments/http-problem-types#quota-exceeded';
  readonly title: string;
  readonly status: 429;
  readonly detail: string;
  /** Those by which the request had to wait, by the names they have in `RateLimit-Policy`. */
  readonly 'violated-policies': readonly string[];
}

export const PROBLEM_TYPE = 'application/problem+json';

/** The body of a 429. The key that was limited is not in it. */
export function problemOf(decision: Decision): RateLimitProblem {
  const { policies, policy, retryAfter } = decision;
  const denied = policies.filter((each) => each.retryAfter > 0);
  // A wait that is too long only where all its parts are: then the policy that bound stands for them.
  const violated = denied.length > 0 ? denied : policies.filter(({ name }) => name === policy);
  return {
    type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
    title: 'Too Many Requests',
    status: 429,
    detail: Number.isFinite(retryAfter)
      ? `Try again in ${Math.max(1, Math.ceil(retryAfter / 1000))} s.`
      : 'This request costs more than the limit can ever give.',
    'violated-policies': violated.map((each) => policyName(decision, each)),
  };
}
