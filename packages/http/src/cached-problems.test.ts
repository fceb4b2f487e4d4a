import type { Decision } from '@sluice/core';
import { cachedProblems, problemOf } from './problem.js';

const denial = (retryAfter: number, name = 'api', ...more: string[]): Decision => {
  const policies = [name, ...more].map((policy) => ({
    name: policy,
    cost: 1,
    limit: 5,
    window: 60_000,
    remaining: 0,
    retryAfter,
    resetAfter: 60_000,
    moreAfter: 0,
  }));
  return {
    ...policies[0]!,
    allowed: false,
    policy: name,
    waited: 0,
    source: 'memory',
    degraded: false,
    policies,
  };
};

test('problems with the same whole seconds to wait are one object', () => {
  const problem = cachedProblems(429);
  expect(problem(denial(1001))).toBe(problem(denial(2000)));
  expect(problem(denial(2001))).not.toBe(problem(denial(2000)));
});

test('a cached problem equals the result of problemOf for every denial', () => {
  const problem = cachedProblems(503);
  const denials = [
    denial(1000),
    denial(1000, 'login'),
    denial(1000, 'api', 'daily'),
    denial(Number.POSITIVE_INFINITY),
    ...Array.from({ length: 200 }, (_, i) => denial(i * 1000)),
  ];
  for (const each of [...denials, ...denials]) expect(problem(each)).toEqual(problemOf(each, 503));
});
