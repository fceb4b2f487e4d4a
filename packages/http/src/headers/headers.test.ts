import type { Decision, PolicyDecision } from '@sluice/core';
import { parseList } from 'structured-headers';
import type { ListHeaders } from './decision-headers.js';
import { headerWriter } from './header-style.js';
import { extended } from './response-headers.js';
import { headersBy, writeRetryAfter } from './single-policy.js';

const write = headerWriter('rateLimit', {});
const decisionHeaders = (decision: Decision) => headersBy(write, decision);
const writeHeaders = (decision: Decision, headers: ListHeaders) => {
  write(decision, headers);
  if (!decision.allowed) writeRetryAfter(decision, headers);
};

const policy: PolicyDecision = {
  name: 'login@v2:a/b#c-d.e',
  cost: 1,
  limit: 5,
  window: 60_000,
  remaining: 0,
  retryAfter: 1_001,
  resetAfter: 3_600_000,
  moreAfter: 59_001,
};

/** A denial by these policies. The first one decided. */
const denial = (name: string, ...policies: PolicyDecision[]): Decision => ({
  ...policies[0]!,
  allowed: false,
  name,
  policy: policies[0]!.name,
  waited: 0,
  source: 'memory',
  degraded: false,
  policies,
});
const denied = denial(policy.name, policy);
const named = (name: string) => denial(name, { ...policy, name });
const read = (list: string | undefined) =>
  parseList(list!).map(([name, parameters]) => [name, Object.fromEntries(parameters)]);

test('an independent parser of RFC 9651 reads the lists', () => {
  const headers = decisionHeaders(denied);
  expect(read(headers['RateLimit-Policy'])).toEqual([[policy.name, { q: 5, w: 60 }]]);
  expect(read(headers.RateLimit)).toEqual([[policy.name, { r: 0, t: 2 }]]);
});

test('each of several policies is an item', () => {
  const perMinute = { ...policy, name: 'perMinute' };
  const perDay = {
    ...policy,
    name: 'perDay',
    limit: 100,
    window: 86_400_000,
    remaining: 95,
    retryAfter: 0,
    moreAfter: 1,
  };
  const headers = decisionHeaders(denial('api', perMinute, perDay));
  expect(read(headers['RateLimit-Policy'])).toEqual([
    ['api.perMinute', { q: 5, w: 60 }],
    ['api.perDay', { q: 100, w: 86_400 }],
  ]);
  expect(read(headers.RateLimit)).toEqual([
    ['api.perMinute', { r: 0, t: 2 }],
    ['api.perDay', { r: 95, t: 1 }],
  ]);
});

test.each([
  ['say "hi" \\o/', 'say "hi" \\o/'],
  ['限\r\n', '%e9%99%90%0d%0a'],
  ['\ud800', '%ef%bf%bd'],
])('the name %j, which a combination can have, is escaped in the header', (name, inHeader) => {
  expect(read(decisionHeaders(named(name)).RateLimit)).toEqual([[inHeader, { r: 0, t: 2 }]]);
});

test.each([
  [1, '1'],
  [1000, '1'],
  [1001, '2'],
  [Number.POSITIVE_INFINITY, undefined],
])('a wait of %d ms is the Retry-After %s: whole seconds, rounded up', (retryAfter, header) => {
  expect(decisionHeaders({ ...denied, retryAfter })['Retry-After']).toBe(header);
});

test('an allowed request has no Retry-After', () => {
  expect(decisionHeaders({ ...denied, allowed: true, retryAfter: 0 })).not.toHaveProperty('Retry-After');
});

test('a number beyond 15 digits is sent as the largest of 15 digits', () => {
  const huge = { ...policy, limit: Number.MAX_SAFE_INTEGER, remaining: Number.MAX_SAFE_INTEGER };
  const headers = decisionHeaders(denial(policy.name, huge));
  expect(read(headers['RateLimit-Policy'])).toMatchObject([[policy.name, { q: 999_999_999_999_999 }]]);
  expect(read(headers.RateLimit)).toMatchObject([[policy.name, { r: 999_999_999_999_999 }]]);
});

describe('a response that has headers already', () => {
  const response = (before: [string, unknown][] = []) => {
    const set = new Map<string, unknown>(before);
    return {
      get: (name: string) => set.get(name),
      set: (name: string, value: string) => void set.set(name, value),
      append: (name: string, items: string) => void set.set(name, extended(set.get(name), items)),
      names: () => read(set.get('RateLimit') as string).map(([name]) => name),
    };
  };

  test('a second limiter appends to the lists and sets Retry-After', () => {
    const headers = response();
    writeHeaders({ ...named('a'), allowed: true, retryAfter: 0 }, headers);
    writeHeaders(named('b'), headers);
    expect(headers.names()).toEqual(['a', 'b']);
    expect(headers.get('Retry-After')).toBe('2');
  });

  test.each<[unknown, string[]]>([
    ['"x";r=1;t=1', ['x', 'a']],
    [
      ['"x";r=1;t=1', '"y";r=1;t=1, "z";r=1;t=1'],
      ['x', 'y', 'z', 'a'],
    ],
    ['', ['a']],
    [[], ['a']],
    [5, ['a']],
  ])('the value %j of RateLimit is kept', (before, names) => {
    const headers = response([['RateLimit', before]]);
    writeHeaders(named('a'), headers);
    expect(headers.names()).toEqual(names);
  });
});
