import type { Decision } from '../limiter/decision.js';
import { problemOf, type RateLimitProblem, secondsToWait } from './problem.js';

interface Remembered {
  readonly name: string;
  readonly policy: string;
  readonly problem: RateLimitProblem;
}

/** More than the seconds of a minute. */
const MOST = 64;

/**
 * Makes the problems of one limit's denials. Those of a single policy differ in the seconds to wait alone, and under a flood the same few
 * are answered again and again, so the problem for each wait is kept.
 */
export function problemMemory(status: number): (decision: Decision) => RateLimitProblem {
  const bySeconds = new Map<number, Remembered>();
  return (decision) => {
    const { name, policy, policies, retryAfter } = decision;
    if (policies.length !== 1) return problemOf(decision, status);
    const seconds = secondsToWait(retryAfter);
    const known = bySeconds.get(seconds);
    if (known !== undefined && known.name === name && known.policy === policy) return known.problem;
    const problem = problemOf(decision, status);
    if (bySeconds.size >= MOST) bySeconds.clear();
    bySeconds.set(seconds, { name, policy, problem });
    return problem;
  };
}
