import { STATUS_CODES } from 'node:http';
import {
  isKeyResolutionError,
  isLimiterClosedError,
  isRateLimitExceededError,
  isRequestForbiddenError,
  isStoreUnavailableError,
} from '../errors.js';
import type { Decision } from '../limiter/decision.js';
import { policyName } from './headers/policy-name.js';

/** A problem as RFC 9457 has it; kinds of problems add members of their own. */
export interface HttpProblem {
  /** A URI that names the kind of problem; `about:blank` for what the status says by itself. */
  readonly type: string;
  readonly title: string;
  readonly status: number;
  /** What the client can do about it. */
  readonly detail: string;
}

/** A problem that says which policy was exceeded, as the RateLimit draft defines it. */
export interface RateLimitProblem extends HttpProblem {
  readonly type: 'https://iana.org/assignments/http-problem-types#quota-exceeded';
  /** Those by which the request had to wait, by the names they have in `RateLimit-Policy`. */
  readonly 'violated-policies': readonly string[];
}

export const PROBLEM_TYPE = 'application/problem+json';

/** Whole seconds, at least 1, from milliseconds. */
export const secondsToWait = (ms: number): number => Math.max(1, Math.ceil(ms / 1000));

/** The body of a denial. The key that was limited is not in it. */
export function problemOf(decision: Decision, status = 429): RateLimitProblem {
  const { policies, policy, retryAfter } = decision;
  const denied = policies.filter((each) => each.retryAfter > 0);
  // A wait that is too long only where all its parts are: then the policy that bound stands for them.
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

/** The answer to an error of ours that says which status it is; undefined for others. What a store says stays inside. */
export function problemOfError(error: unknown): HttpProblem | undefined {
  if (isRateLimitExceededError(error)) return problemOf(error.decision, error.status);
  if (isRequestForbiddenError(error)) return forbiddenProblem();
  if (isKeyResolutionError(error) && error.expose) return plainProblem(error.status, error.message);
  if (isStoreUnavailableError(error) || isLimiterClosedError(error)) return unavailableProblem();
  return undefined;
}

const plainProblem = (status: number, detail: string): HttpProblem => ({
  type: 'about:blank',
  title: STATUS_CODES[status]!,
  status,
  detail,
});

/** The body while a store is out. What is wrong with it stays inside. */
export const unavailableProblem = (): HttpProblem => plainProblem(503, 'Try again later.');

/** The body for who is on a deny list. It does not say which entry it was. */
export const forbiddenProblem = (): HttpProblem => plainProblem(403, 'Requests from here are not served.');
