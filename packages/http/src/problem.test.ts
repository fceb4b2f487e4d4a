import type { Decision, PolicyDecision } from '@sluice/core';
import { FORBIDDEN, problemOf } from './problem.js';

const policy: PolicyDecision = {
  name: 'login',
  cost: 1,
  limit: 5,
  window: 60_000,
  remaining: 0,
  retryAfter: 1_001,
  resetAfter: 59_001,
  moreAfter: 0,
};

const denied = (policies: PolicyDecision[]): Decision => ({
  ...policies[0]!,
  allowed: false,
  name: 'login',
  policy: policies[0]!.name,
  waited: 0,
  source: 'memory',
  degraded: false,
  policies,
});

test('the detail says when to retry, or that a retry cannot pass', () => {
  expect(problemOf(denied([policy]))).toEqual({
    type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
    title: 'Too Many Requests',
    status: 429,
    detail: 'Try again in 2 s.',
    'violated-policies': ['login'],
  });
  const never = { ...policy, retryAfter: Number.POSITIVE_INFINITY };
  expect(problemOf(denied([never]))).toMatchObject({
    detail: expect.stringMatching(/more than the limit/),
    'violated-policies': ['login'],
  });
});

test('lists exactly the policies that denied', () => {
  const perMinute = { ...policy, name: 'perMinute' };
  const perHour = { ...perMinute, name: 'perHour', retryAfter: 0 };
  const perDay = { ...perMinute, name: 'perDay', retryAfter: Number.POSITIVE_INFINITY };
  expect(problemOf(denied([perMinute, perHour, perDay]))['violated-policies']).toEqual([
    'login.perMinute',
    'login.perDay',
  ]);
});

test('lists the deciding policy if none alone would have denied', () => {
  const one = { ...policy, name: 'one', retryAfter: 0 };
  expect(problemOf(denied([one, { ...one, name: 'two' }]))['violated-policies']).toEqual(['login.one']);
});

test.each([
  [503, 'Service Unavailable'],
  [400, 'Bad Request'],
  [499, 'Too Many Requests'],
])('a status of %i sets the status and title of the problem', (status, title) => {
  expect(problemOf(denied([policy]), status)).toMatchObject({ status, title, detail: 'Try again in 2 s.' });
});

test('a client on the denyList receives no more than status and title', () => {
  expect(FORBIDDEN).toEqual({
    type: 'about:blank',
    title: 'Forbidden',
    status: 403,
    detail: expect.any(String),
  });
});
