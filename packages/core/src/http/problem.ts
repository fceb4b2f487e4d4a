import type { Decision } from '../decision.js';

/** An RFC 9457 problem that says which policy was exceeded, as the RateLimit draft defines it. */
export interface RateLimitProblem {
  readonly type: 'https://iana.org/assignments/http-problem-types#quota-exceeded';
  readonly title: string;
  readonly status: 429;
  readonly detail: string;
  readonly 'violated-policies': readonly string[];
}

export const PROBLEM_TYPE = 'application/problem+json';

/** The body of a 429. The key that was limited is not in it. */
export function problemOf({ name, retryAfter }: Decision): RateLimitProblem {
  return {
    type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
    title: 'Too Many Requests',
    status: 429,
    detail: Number.isFinite(retryAfter)
      ? `Try again in ${Math.max(1, Math.ceil(retryAfter / 1000))} s.`
      : 'This request costs more than the limit can ever give.',
    'violated-policies': [name],
  };
}
