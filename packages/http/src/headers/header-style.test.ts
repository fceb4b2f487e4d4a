import { createHash } from 'node:crypto';
import type { Decision, PolicyDecision } from '@sluice/core';
import fc from 'fast-check';
import { parseDictionary, parseList } from 'structured-headers';
import { anyText } from '../../../../tests/support/any-text.js';
import type { Keys, RequestLimitOptions } from '../request-limit-options.js';
import { headerWriter } from './header-style.js';
import { headersBy } from './single-policy.js';

type HeaderOptions = RequestLimitOptions<never>;

const perMinute: PolicyDecision = {
  name: 'login',
  cost: 1,
  limit: 5,
  window: 60_000,
  remaining: 4,
  retryAfter: 0,
  resetAfter: 3_600_000,
  moreAfter: 59_001,
};
const perHour = { ...perMinute, name: 'perHour', limit: 100, window: 3_600_000, remaining: 99 };

const decisionOf = (bound: PolicyDecision, ...others: PolicyDecision[]): Decision => ({
  ...bound,
  allowed: bound.retryAfter === 0,
  name: 'login',
  policy: bound.name,
  waited: 0,
  source: 'memory',
  degraded: false,
  policies: [bound, ...others],
});
const decision = decisionOf(perMinute, perHour);
const writtenBy = (options: HeaderOptions) => {
  const write = headerWriter('rateLimit', options);
  return (given: Decision, key?: Keys) => headersBy((one, response) => write(one, response, key), given);
};
const headersOf = (options: HeaderOptions, given = decision) => writtenBy(options)(given);
const read = (list: string | undefined) =>
  parseList(list!).map(([name, parameters]) => [name, Object.fromEntries(parameters)]);

beforeEach(() => jest.useFakeTimers({ now: 1_700_000_000_500 }));
afterEach(() => jest.useRealTimers());

const draft11 = {
  'RateLimit-Policy': '"login";q=5;w=60, "login.perHour";q=100;w=3600',
  RateLimit: '"login";r=4;t=60, "login.perHour";r=99;t=60',
};
const draft6 = {
  'RateLimit-Policy': '5;w=60, 100;w=3600',
  'RateLimit-Limit': '5',
  'RateLimit-Remaining': '4',
  'RateLimit-Reset': '60',
};
const legacy = {
  'X-RateLimit-Limit': '5',
  'X-RateLimit-Remaining': '4',
  // 1,700,000,059.501: a second that begins later is never too early.
  'X-RateLimit-Reset': '1700000060',
};

test.each<[HeaderOptions, object]>([
  [{}, draft11],
  [{ standardHeaders: 'draft-11' }, draft11],
  [{ standardHeaders: 'draft-8' }, draft11],
  [
    { standardHeaders: 'draft-7' },
    { 'RateLimit-Policy': '5;w=60, 100;w=3600', RateLimit: 'limit=5, remaining=4, reset=60' },
  ],
  [{ standardHeaders: 'draft-6' }, draft6],
  [{ standardHeaders: true }, draft6],
  [{ standardHeaders: false }, {}],
  [{ standardHeaders: false, legacyHeaders: true }, legacy],
  [{ legacyHeaders: true }, { ...draft11, ...legacy }],
])('the headers with %j', (options, headers) => expect(headersOf(options)).toEqual(headers));

test.each<HeaderOptions>([
  {},
  { standardHeaders: 'draft-7' },
  { standardHeaders: 'draft-6' },
  { standardHeaders: false },
])('a denial has Retry-After with %j, unless it can never pass', (options) => {
  const denied = { ...perMinute, remaining: 0, retryAfter: 1001 };
  expect(headersOf(options, decisionOf(denied))['Retry-After']).toBe('2');
  expect(headersOf(options, decisionOf({ ...denied, retryAfter: Infinity }))).not.toHaveProperty(
    'Retry-After',
  );
  expect(headersOf(options)).not.toHaveProperty('Retry-After');
});

test('in a denial, the time until more permits equals Retry-After', () => {
  const denied = decisionOf({ ...perMinute, remaining: 0, retryAfter: 7_200, moreAfter: 1_000 }, perHour);
  const styles = ['draft-11', 'draft-7', 'draft-6'] as const;
  const [newest, draft7, draft6] = styles.map((standardHeaders) => headersOf({ standardHeaders }, denied));
  expect(newest).toMatchObject({
    RateLimit: '"login";r=0;t=8, "login.perHour";r=99;t=60',
    'Retry-After': '8',
  });
  expect(draft7).toMatchObject({ RateLimit: 'limit=5, remaining=0, reset=8', 'Retry-After': '8' });
  expect(draft6).toMatchObject({ 'RateLimit-Reset': '8', 'Retry-After': '8' });
  expect(headersOf({ legacyHeaders: true }, denied)['X-RateLimit-Reset']).toBe('1700000008');
  // The call can never pass, but permits still return.
  const never = decisionOf({ ...perMinute, retryAfter: Infinity });
  expect(headersOf({}, never)).toEqual({
    'RateLimit-Policy': '"login";q=5;w=60',
    RateLimit: '"login";r=4;t=60',
  });
});

test('held permits are sent as concurrent requests, without a window', () => {
  const held: PolicyDecision = { ...perMinute, held: true };
  expect(headersOf({}, decisionOf(held))).toEqual({
    'RateLimit-Policy': '"login";q=5;qu="concurrent-requests"',
    RateLimit: '"login";r=4',
  });
  expect(headersOf({}, decisionOf({ ...held, remaining: 0, retryAfter: 4_500 }))).toEqual({
    'RateLimit-Policy': '"login";q=5;qu="concurrent-requests"',
    RateLimit: '"login";r=0;t=5',
    'Retry-After': '5',
  });
});

test('an independent parser reads the headers of draft 7', () => {
  const { RateLimit, 'RateLimit-Policy': policy } = headersOf({ standardHeaders: 'draft-7' });
  const members = [...parseDictionary(RateLimit!)].map(([name, item]) => [name, item[0]]);
  expect(Object.fromEntries(members)).toEqual({ limit: 5, remaining: 4, reset: 60 });
  expect(read(policy)).toEqual([
    [5, { w: 60 }],
    [100, { w: 3600 }],
  ]);
});

test.each<[object, RegExp]>([
  [{ standardHeaders: 'draft-9' }, /rateLimit: standardHeaders must be one of draft-11, .* not "draft-9"/],
  [{ standardHeaders: null }, /standardHeaders must be .* not null/],
  [{ standardHeaders: 6 }, /standardHeaders must be .* not 6/],
  [
    { partitionKey: true, standardHeaders: 'draft-7' },
    /partitionKey has no effect with standardHeaders "draft-7"/,
  ],
  [{ partitionKey: true, standardHeaders: false }, /partitionKey has no effect with standardHeaders false/],
])('rejects %j', (options, message) => {
  expect(() => headerWriter('rateLimit', options)).toThrow(message);
});

describe('pk', () => {
  const hash = (text: string) =>
    createHash('sha256').update(text).digest().subarray(0, 12).toString('base64');
  const written = writtenBy({ partitionKey: true });
  const pkOf = (list: string | undefined) =>
    parseList(list!).map(([, parameters]) => {
      const pk = parameters.get('pk');
      return pk === undefined ? undefined : Buffer.from(pk as ArrayBuffer).toString('base64');
    });

  test.each<[unknown, string]>([
    ['1.2.3.4', '1.2.3.4'],
    [7, '7'],
  ])('of the key %j is a byte sequence in both headers, the same for all policies', (key, hashed) => {
    const headers = written(decision, key as never);
    expect(pkOf(headers.RateLimit)).toEqual([hash(hashed), hash(hashed)]);
    expect(pkOf(headers['RateLimit-Policy'])).toEqual([hash(hashed), hash(hashed)]);
  });

  test("of keys by limit is the pk of that limit's key", () => {
    const one = { ...perMinute, name: 'perIp' };
    const several = ['perAccount.perMinute', 'perAccount.perHour', 'perIps'].map((name) => ({
      ...one,
      name,
    }));
    const headers = written(decisionOf(one, ...several), { perIp: '1.2.3.4', perAccount: 'ann' });
    expect(pkOf(headers.RateLimit)).toEqual([hash('1.2.3.4'), hash('ann'), hash('ann'), undefined]);
  });

  test('is absent without partitionKey or without a key', () => {
    expect(written(decision)).toEqual(draft11);
    expect(writtenBy({})(decision, '1.2.3.4')).toEqual(draft11);
  });
});

test('a limiter whose policies change from call to call sends those of each call', () => {
  const written = writtenBy({ standardHeaders: 'draft-7' });
  const limits = Array.from({ length: 12 }, (_, i) => i + 1);
  for (const limit of [...limits, ...limits, 3, 3]) {
    expect(written(decisionOf({ ...perMinute, limit }))['RateLimit-Policy']).toBe(`${limit};w=60`);
    expect(written(decisionOf({ ...perMinute, limit }, perHour))['RateLimit-Policy']).toBe(
      `${limit};w=60, 100;w=3600`,
    );
  }
  const ofSecond = () => written(decisionOf({ ...perMinute, limit: 3, window: 1000 }))['RateLimit-Policy'];
  expect([ofSecond(), ofSecond()]).toEqual(['3;w=1', '3;w=1']);
});

test('names follow the limiter, even if the numbers are unchanged', () => {
  const written = writtenBy({});
  expect(read(written(decisionOf(perMinute)).RateLimit)).toMatchObject([['login', {}]]);
  expect(read(written({ ...decisionOf(perMinute), name: 'api' }).RateLimit)).toMatchObject([
    ['api.login', {}],
  ]);
  expect(read(written(decisionOf({ ...perMinute, name: 'b' })).RateLimit)).toMatchObject([['login.b', {}]]);
});

const hostileNumber = fc.oneof(
  fc.double(),
  fc.constantFrom(NaN, Infinity, -Infinity, -1, -0, 0.5, 1e21, Number.MAX_SAFE_INTEGER),
);
const hostilePolicy = fc.record({
  name: fc.oneof(anyText(), fc.constantFrom('"', '\\', 'a\r\nSet-Cookie: b', '\ud800', '')),
  cost: hostileNumber,
  limit: hostileNumber,
  window: hostileNumber,
  remaining: hostileNumber,
  retryAfter: hostileNumber,
  resetAfter: hostileNumber,
  moreAfter: hostileNumber,
});
const hostile = fc.oneof(
  hostilePolicy,
  hostilePolicy.map((policy) => ({ ...policy, held: true as const })),
);
const NUMBER = /^(?:0|[1-9]\d{0,14})$/;

test('headers with any names and numbers can be parsed', () => {
  const decisions = fc.array(hostile, { minLength: 1, maxLength: 4 }).map(([first, ...rest]) => ({
    ...decisionOf(first!, ...rest),
    allowed: false,
  }));
  fc.assert(
    fc.property(decisions, anyText(), (given, key) => {
      const all = writtenBy({ partitionKey: true, legacyHeaders: true })(given, key);
      for (const name of ['RateLimit', 'RateLimit-Policy']) {
        expect(read(all[name])).toHaveLength(given.policies.length);
      }
      for (const [, { w, qu }] of read(all['RateLimit-Policy'])) {
        if (qu === undefined) expect(w).toBeGreaterThanOrEqual(1);
        else expect({ w, qu }).toEqual({ w: undefined, qu: 'concurrent-requests' });
      }
      const others = { ...headersOf({ standardHeaders: 'draft-6' }, given), ...all };
      for (const [name, value] of Object.entries(others)) {
        expect(value).toMatch(/^[\x20-\x7e]*$/);
        if (/-(?:Limit|Remaining|Reset|After)$/.test(name)) expect(value).toMatch(NUMBER);
      }
      expect(Number(all['Retry-After'] ?? 1)).toBeGreaterThanOrEqual(1);
      parseDictionary(headersOf({ standardHeaders: 'draft-7' }, given).RateLimit!);
    }),
  );
});
