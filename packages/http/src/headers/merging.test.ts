import { type Decision, RateLimitExceededError } from '@sluice/core';
import { parseList } from 'structured-headers';
import type { RequestLimitOptions } from '../request-limit-options.js';
import { headerWriter } from './header-style.js';
import { extended, writeErrorHeaders } from './response-headers.js';
import { writeRetryAfter } from './single-policy.js';

type HeaderOptions = RequestLimitOptions<never>;

/** A decision of a limiter of this name. */
const decision = (name: string, remaining: number, resetAfter = 1000, retryAfter = 0): Decision => {
  const policy = {
    name,
    cost: 1,
    limit: 10,
    window: 60_000,
    remaining,
    retryAfter,
    resetAfter,
    moreAfter: resetAfter,
  };
  const allowed = retryAfter === 0;
  return {
    ...policy,
    allowed,
    policy: name,
    waited: 0,
    source: 'memory',
    degraded: false,
    policies: [policy],
  };
};
const denied = (remaining: number, resetAfter: number, retryAfter: number) =>
  decision('denied', remaining, resetAfter, retryAfter);

class Response {
  readonly headers: Map<string, unknown>;

  constructor(before: Readonly<Record<string, unknown>> = {}) {
    this.headers = new Map(Object.entries(before));
  }

  get(name: string): unknown {
    return this.headers.get(name);
  }

  set(name: string, value: string): void {
    this.headers.set(name, value);
  }

  append(name: string, items: string): void {
    this.set(name, extended(this.get(name), items));
  }

  write(options: HeaderOptions, ...decisions: Decision[]): this {
    for (const one of decisions) {
      headerWriter('rateLimit', options)(one, this);
      if (!one.allowed) writeRetryAfter(one, this);
    }
    return this;
  }
}

beforeEach(() => jest.useFakeTimers({ now: 1_700_000_000_000 }));
afterEach(() => jest.useRealTimers());

/** Of two decisions, a format for one sends the tighter: its remaining permits, and the seconds until all are back. */
const cases: [string, Decision, Decision, [number, number]][] = [
  ['fewer remaining, first', decision('a', 1), decision('b', 2), [1, 1]],
  ['fewer remaining, last', decision('a', 2), decision('b', 1), [1, 1]],
  ['fewer remaining, and an earlier reset', decision('a', 1, 2000), decision('b', 2, 9000), [1, 2]],
  ['as many remaining, a later reset, first', decision('a', 1, 9000), decision('b', 1, 2000), [1, 9]],
  ['as many remaining, a later reset, last', decision('a', 1, 2000), decision('b', 1, 9000), [1, 9]],
  ['a denial after a decision with fewer remaining', decision('a', 0), denied(3, 7000, 5000), [3, 5]],
  ['a denial before a decision with fewer remaining', denied(3, 7000, 5000), decision('b', 0), [3, 5]],
  ['the tighter of two denials', denied(3, 7000, 5000), denied(2, 6000, 5000), [2, 5]],
];

describe.each(cases)('%s', (_name, first, second, [remaining, reset]) => {
  test('draft 7 sends the tighter decision', () => {
    const response = new Response().write({ standardHeaders: 'draft-7' }, first, second);
    expect(response.get('RateLimit')).toBe(`limit=10, remaining=${remaining}, reset=${reset}`);
    expect(response.get('RateLimit-Policy')).toBe('10;w=60, 10;w=60');
  });

  test('draft 6 sends the tighter decision', () => {
    const response = new Response().write({ standardHeaders: 'draft-6' }, first, second);
    expect(response.get('RateLimit-Remaining')).toBe(String(remaining));
    expect(response.get('RateLimit-Reset')).toBe(String(reset));
    expect(response.get('RateLimit-Policy')).toBe('10;w=60, 10;w=60');
  });

  test('X-RateLimit sends the tighter decision', () => {
    const response = new Response().write({ standardHeaders: false, legacyHeaders: true }, first, second);
    expect(response.get('X-RateLimit-Remaining')).toBe(String(remaining));
    expect(response.get('X-RateLimit-Reset')).toBe(String(1_700_000_000 + reset));
  });

  test('draft 11 sends both decisions', () => {
    const response = new Response().write({}, first, second);
    for (const name of ['RateLimit', 'RateLimit-Policy']) {
      expect(parseList(response.get(name) as string).map(([item]) => item)).toEqual([
        first.name,
        second.name,
      ]);
    }
  });
});

test.each<[unknown, string]>([
  [undefined, '5'],
  ['', '5'],
  ['4', '5'],
  ['6', '6'],
  [6, '6'],
  ['soon', '5'],
  ['-1', '5'],
  [['6'], '5'],
  [{}, '5'],
  ['Tue, 14 Nov 2023 22:13:24 GMT', '5'],
  ['Tue, 14 Nov 2023 22:13:26 GMT', 'Tue, 14 Nov 2023 22:13:26 GMT'],
])('a Retry-After of %j and one of 5 s become %s', (before, after) => {
  const response = new Response({ 'Retry-After': before }).write({}, denied(0, 5000, 5000));
  expect(response.get('Retry-After')).toBe(after === '6' ? before : after);
});

test('an absent header, an empty string in Koa, does not count as a denial', () => {
  const options = { standardHeaders: 'draft-6' } as const;
  const response = new Response({ 'Retry-After': '' }).write(options, decision('a', 1), decision('b', 2));
  expect(response.get('RateLimit-Remaining')).toBe('1');
  expect(response.write(options, decision('c', 0)).get('RateLimit-Remaining')).toBe('0');
});

test('an allowed request keeps an earlier Retry-After', () => {
  expect(new Response({ 'Retry-After': '9' }).write({}, decision('a', 1)).get('Retry-After')).toBe('9');
});

const names = ['RateLimit', 'RateLimit-Policy', 'RateLimit-Remaining', 'RateLimit-Reset', 'Retry-After'];
const hostile = [
  null,
  5,
  -1,
  NaN,
  {},
  [],
  [null],
  ['x', 7],
  '',
  ',',
  'limit=',
  '"',
  'a'.repeat(20_000),
  Symbol('x'),
  () => 1,
];

test.each(['draft-11', 'draft-7', 'draft-6'] as const)('%s: invalid earlier values are replaced', (style) => {
  for (const value of hostile) {
    const before = Object.fromEntries(
      [...names, ...names.map((name) => `X-${name}`)].map((name) => [name, value]),
    );
    const response = new Response(before).write(
      { standardHeaders: style, legacyHeaders: true },
      denied(1, 2000, 3000),
    );
    expect(response.get('RateLimit-Policy')).toMatch(/;w=60$/);
    // A whole number can come from another limiter; other values are replaced.
    if (value !== 5) expect(response.get('X-RateLimit-Remaining')).toBe('1');
  }
});

test('a thrown denial is added to the headers once, even if it has the headers of the whole response', () => {
  const response = new Response().write({}, decision('first', 5));
  const error = new RateLimitExceededError(denied(0, 2000, 1000));
  writeErrorHeaders(error, response);
  expect(response.get('RateLimit')).toBe('"first";r=5;t=1, "denied";r=0;t=1');
  expect(response.get('Retry-After')).toBe('1');
  const headers = Object.fromEntries(response.headers) as Record<string, string>;
  writeErrorHeaders(new RateLimitExceededError(error.decision, { headers }), response);
  expect(Object.fromEntries(response.headers)).toEqual(headers);
});
