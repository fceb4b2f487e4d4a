import { parseList } from 'structured-headers';
import type { Decision } from '../../decision.js';
import { problemOf } from '../problem.js';
import { decisionHeaders } from './decision-headers.js';
import { writeHeaders } from './write-headers.js';

const denied: Decision = {
  allowed: false,
  name: 'login@v2:a/b#c-d.e',
  cost: 1,
  limit: 5,
  window: 60_000,
  remaining: 0,
  retryAfter: 1_001,
  resetAfter: 59_001,
  waited: 0,
  source: 'memory',
};

test('an independent parser of RFC 9651 reads the lists back', () => {
  const headers = decisionHeaders(denied);
  expect(parseList(headers['RateLimit-Policy']!)).toEqual([
    [
      denied.name,
      new Map([
        ['q', 5],
        ['w', 60],
      ]),
    ],
  ]);
  expect(parseList(headers.RateLimit!)).toEqual([
    [
      denied.name,
      new Map([
        ['r', 0],
        ['t', 60],
      ]),
    ],
  ]);
});

test.each([
  [1, '1'],
  [1000, '1'],
  [1001, '2'],
  [Number.POSITIVE_INFINITY, undefined],
])('%d ms are a Retry-After of %s: whole seconds, never too early', (retryAfter, header) => {
  expect(decisionHeaders({ ...denied, retryAfter })['Retry-After']).toBe(header);
});

test('an allowed request has no Retry-After', () => {
  expect(decisionHeaders({ ...denied, allowed: true, retryAfter: 0 })).not.toHaveProperty('Retry-After');
});

test('numbers beyond 15 digits are the largest that the format has', () => {
  const { RateLimit, 'RateLimit-Policy': policy } = decisionHeaders({
    ...denied,
    limit: Number.MAX_SAFE_INTEGER,
    remaining: Number.MAX_SAFE_INTEGER,
  });
  expect(parseList(policy!)[0]![1].get('q')).toBe(999_999_999_999_999);
  expect(parseList(RateLimit!)[0]![1].get('r')).toBe(999_999_999_999_999);
});

test('a second limiter adds itself to the lists and sets Retry-After', () => {
  const set = new Map<string, string>();
  const headers = {
    get: (name: string) => set.get(name),
    set: (name: string, value: string) => set.set(name, value),
  };
  writeHeaders({ ...denied, name: 'a', allowed: true, retryAfter: 0 }, headers);
  writeHeaders({ ...denied, name: 'b' }, headers);
  expect(parseList(set.get('RateLimit')!).map(([name]) => name)).toEqual(['a', 'b']);
  expect(set.get('Retry-After')).toBe('2');
});

test('a problem says when to come again, or that it is of no use', () => {
  expect(problemOf(denied)).toMatchObject({ status: 429, detail: 'Try again in 2 s.' });
  expect(problemOf({ ...denied, retryAfter: Number.POSITIVE_INFINITY }).detail).toMatch(
    /more than the limit/,
  );
});
