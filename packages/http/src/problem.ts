import {
  type Decision,
  isKeyResolutionError,
  isLimiterClosedError,
  isRateLimitExceededError,
  isRequestForbiddenError,
  isStoreUnavailableError,
} from '@sluice/core';
import { STATUS_CODES } from '#platform';
import { policyName } from './headers/decision-headers.js';

/** A problem document of RFC 9457; each kind of problem adds members of its own. */
export interface HttpProblem {
  /** A URI that names the kind of problem; `about:blank` if the status says enough. */
  readonly type: string;
  readonly title: string;
  readonly status: number;
  /** What the client can do about it. */
  readonly detail: string;
}

/** A problem that names the exceeded policies, as the RateLimit draft defines it. */
export interface RateLimitProblem extends HttpProblem {
  readonly type: 'https://iana.org/assignments/http-problem-types#quota-exceeded';
  /** The policies that denied the request, by their names in `RateLimit-Policy`. */
  readonly 'violated-policies': readonly string[];
}

export const PROBLEM_TYPE = 'application/problem+json';

const secondsToWait = (ms: number): number => Math.max(1, Math.ceil(ms / 1000));

/** The body of a denial. It does not contain the key. */
export function problemOf(decision: Decision, status = 429): RateLimitProblem {
  const { policies, policy, retryAfter } = decision;
  const denied = policies.filter((each) => each.retryAfter > 0);
  // If no policy denies by itself, the wait of all together was too long: then the binding policy is named.
  const violated = denied.length > 0 ? denied : policies.filter(({ name }) => name === policy);
  return {
    type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
    title: STATUS_CODES[status] ?? 'Too Many Requests',
    status,
    detail: Number.isFinite(retryAfter)
      ? `Try again in ${secondsToWait(retryAfter)} s.`
      : 'This request costs more than the limit can ever give.',
    'violated-policies': violated.map((each) => policyName(decision, each)),
  };
}

/** More than the different waits of a minute. */
const MAX_PROBLEMS = 64;

/**
 * Creates the problems of one limit's denials. Problems of a single policy differ only in the seconds to wait, and a flood gets the same few
 * again and again, so the problem for each wait is cached.
 */
export function cachedProblems(status: number): (decision: Decision) => RateLimitProblem {
  const cache = new Map<number, { name: string; policy: string; problem: RateLimitProblem }>();
  return (decision) => {
    const { name, policy, policies, retryAfter } = decision;
    if (policies.length !== 1) return problemOf(decision, status);
    const seconds = secondsToWait(retryAfter);
    const known = cache.get(seconds);
    if (known !== undefined && known.name === name && known.policy === policy) return known.problem;
    const problem = problemOf(decision, status);
    if (cache.size >= MAX_PROBLEMS) cache.clear();
    cache.set(seconds, { name, policy, problem });
    return problem;
  };
}

/** The problem of one of our errors that has a status; undefined for others. The messages of store errors stay private. */
export function problemOfError(error: unknown): HttpProblem | undefined {
  if (isRateLimitExceededError(error)) return problemOf(error.decision, error.status);
  if (isRequestForbiddenError(error)) return FORBIDDEN;
  if (isKeyResolutionError(error) && error.expose) return plainProblem(error.status, error.message);
  if (isStoreUnavailableError(error) || isLimiterClosedError(error)) return UNAVAILABLE;
  return undefined;
}

const plainProblem = (status: number, detail: string): HttpProblem => ({
  type: 'about:blank',
  title: STATUS_CODES[status]!,
  status,
  detail,
});

/** The body while a store is out. The cause stays private. */
export const UNAVAILABLE = plainProblem(503, 'Try again later.');

/** The body for a client on a deny list. It does not name the entry. */
export const FORBIDDEN = plainProblem(403, 'Requests from here are not served.');
