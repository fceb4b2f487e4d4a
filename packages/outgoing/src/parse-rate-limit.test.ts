import fc from 'fast-check';
import { captures, RECEIVED_AT } from '../../../tests/support/outgoing/captures.js';
import { parseRateLimit, standardHeaders } from './index.js';
import { viewOf } from './reading/response-view.js';
import { statedBy } from './reading/stated-by.js';

const DAY = 86_400_000;

test.each(Object.entries(captures))('reads %s', (_, { url, status, headers, body, reading }) => {
  const options = { receivedAt: RECEIVED_AT, ...(body !== undefined && { body }) };
  expect(parseRateLimit({ url, status, headers }, options)).toEqual(reading);
  const response = new Response(null, { status, headers });
  Object.defineProperty(response, 'url', { value: url });
  expect(parseRateLimit(response, options)).toEqual(reading);
});

test('names the header that states the time of each refusal: Retry-After, or this one', () => {
  const found = Object.entries(captures).flatMap(([name, { status, headers, reading }]) => {
    const until = reading.refusal?.until;
    const header = statedBy(viewOf({ status, headers }, RECEIVED_AT), until);
    return until === undefined || header === 'retry-after' ? [] : [[name, header]];
  });
  expect(Object.fromEntries(found)).toEqual({
    'GitHub: a resource is used up, status 403': 'x-ratelimit-reset',
    'OpenAI: tokens per minute': 'retry-after-ms',
    'RateLimit as a dictionary (draft 7)': 'ratelimit',
    'Shopify GraphQL: status 200, and the body says size, level and rate': '',
    'X-Rate-Limit-Retry-After-Seconds (OpenSky)': 'x-rate-limit-retry-after-seconds',
    'retry-after-ms, which is finer': 'retry-after-ms',
    'the text of a JavaScript Date as reset, and a header of its own (lemlist)': 'x-ratelimit-reset',
  });
});

const untilOf = (headers: Record<string, string>) =>
  parseRateLimit({ status: 429, headers }, { receivedAt: RECEIVED_AT }).refusal?.until;

test.each([
  ['a date of 1970', 'Thu, 01 Jan 1970 00:00:00 GMT', RECEIVED_AT],
  ['a date of 9999', 'Fri, 31 Dec 9999 23:59:59 GMT', RECEIVED_AT + 366 * DAY],
  ['the older form of RFC 850', 'Tuesday, 24-Nov-26 12:00:09 GMT', RECEIVED_AT + 9000],
  ['the form of asctime, which is UTC', 'Tue Nov 24 12:00:09 2026', RECEIVED_AT + 9000],
  ['0', '0', RECEIVED_AT],
  ['a huge number', '999999999999999', RECEIVED_AT + 366 * DAY],
  ['two lines, of a gateway and its service', '30, 90', RECEIVED_AT + 90_000],
  ['a number and a word', '30, soon', undefined],
  ['a negative number', '-5', undefined],
  ['a number with an exponent', '1e3', undefined],
  ['a hexadecimal number', '0x10', undefined],
  ['infinity', 'Infinity', undefined],
  ['words', 'in a while', undefined],
  ['a word and a number, which Date.parse takes for a month', 'soon 5', undefined],
  ['an empty value', '', undefined],
  ['a value of 10,000 characters', '1'.repeat(10_000), undefined],
])('Retry-After with %s', (_, value, until) => {
  expect(untilOf({ 'retry-after': value })).toBe(until);
});

test.each([-5, 5])('a reset on a clock that is %s s off counts by the Date of its response', (skew) => {
  const theirs = RECEIVED_AT + skew * 1000;
  const headers = {
    date: new Date(theirs).toUTCString(),
    'x-ratelimit-limit': '10',
    'x-ratelimit-remaining': '0',
    'x-ratelimit-reset': String(theirs / 1000 + 60),
  };
  expect(untilOf(headers)).toBe(RECEIVED_AT + 60_000);
});

test('a Date that is days off is not believed', () => {
  const date = 'Tue, 24 Nov 2020 12:00:00 GMT';
  const reset = { 'x-ratelimit-limit': '1', 'x-ratelimit-remaining': '0' };
  expect(untilOf({ date, ...reset, 'x-ratelimit-reset': String(RECEIVED_AT / 1000 + 5) })).toBe(
    RECEIVED_AT + 5000,
  );
});

test('a limit of 0 or with negative figures is not a budget that is used up', () => {
  const none = { 'x-ratelimit-limit': '0', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '60' };
  expect(untilOf(none)).toBeUndefined();
  const negative = { 'ratelimit-limit': '-1', 'ratelimit-remaining': '-1', 'ratelimit-reset': '-60' };
  expect(parseRateLimit({ status: 200, headers: negative })).toEqual({ observed: [] });
});

test('at most 20 members of a header bomb are read, in linear time', () => {
  const list = Array.from({ length: 60 }, (_, i) => `"p${i}";r=${i};t=1`).join(',');
  const { observed } = parseRateLimit({ status: 200, headers: { ratelimit: list } });
  expect(observed).toHaveLength(20);
  const bombs = ['"'.repeat(1000), ';'.repeat(1000), '"a'.repeat(500), 'a;b='.repeat(250), '\\"'.repeat(500)];
  for (const ratelimit of bombs) parseRateLimit({ status: 429, headers: { ratelimit } });
  const body = `{"error":${'['.repeat(200_000)}`;
  expect(parseRateLimit({ status: 429, headers: {} }, { body }).refusal).toMatchObject({ kind: 'limit' });
});

test('headers of node:http and got, in which a repeated header is a list, are read', () => {
  const headers = { ratelimit: ['"a";r=1;t=2', '"b";r=0;t=3'], 'retry-after': undefined };
  const { observed } = parseRateLimit({ statusCode: 200, headers });
  expect(observed.map(({ policy }) => policy)).toEqual(['a', 'b']);
});

test('headers of an object are read however their names are written', () => {
  const options = { receivedAt: RECEIVED_AT };
  const headers = { 'Retry-After': '9', 'X-RateLimit-Limit': 5, 'X-RATELIMIT-REMAINING': ['0'] };
  expect(parseRateLimit({ status: 429, headers }, options)).toMatchObject({
    observed: [{ limit: 5, remaining: 0 }],
    refusal: { until: RECEIVED_AT + 9000 },
  });
});

test('no header and no body make it throw, name a moment in the past, or state a negative number', () => {
  const name = fc.constantFrom(
    'retry-after',
    'retry-after-ms',
    'ratelimit',
    'ratelimit-policy',
    'ratelimit-limit',
    'ratelimit-remaining',
    'ratelimit-reset',
    'x-ratelimit-limit',
    'x-ratelimit-remaining',
    'x-ratelimit-reset',
    'x-shopify-shop-api-call-limit',
    'anthropic-ratelimit-tokens-reset',
    'anthropic-ratelimit-tokens-remaining',
    'date',
  );
  const number = fc.oneof(fc.integer(), fc.double()).map(String);
  const listed = fc.stringMatching(/^"[a-z]";r=[-\d.]{1,20};t=[-\d.e]{1,20}$/);
  const value = fc.oneof(fc.string(), number, listed, fc.date({ noInvalidDate: true }).map(String));
  const host = fc.constantFrom(...new Set(Object.values(captures).map(({ url }) => url)));
  const body = fc.oneof(fc.string(), fc.json());
  fc.assert(
    fc.property(fc.dictionary(name, value), body, host, (headers, body, url) => {
      const receivedAt = RECEIVED_AT;
      const { observed, refusal } = parseRateLimit({ url, status: 429, headers }, { body, receivedAt });
      expect(refusal?.until ?? receivedAt).toBeGreaterThanOrEqual(receivedAt);
      for (const { limit = 0, remaining = 0, resetAt = receivedAt } of observed) {
        expect(Math.min(limit, remaining, resetAt - receivedAt)).toBeGreaterThanOrEqual(0);
      }
    }),
  );
});

test.each<[() => unknown, string]>([
  [
    () => standardHeaders({ scop: 'account' } as never),
    "standardHeaders has no option 'scop'; did you mean 'scope'?",
  ],
  [() => standardHeaders({ scope: 'acount' as never }), "did you mean 'account'?"],
  [
    () => standardHeaders({ scope: 5 as never }),
    'standardHeaders: scope must be one of request, endpoint, dimension, account, upstream, not 5',
  ],
  [
    () => standardHeaders('account' as never),
    'standardHeaders takes an options object (scope), not "account"',
  ],
  [
    () => parseRateLimit({ status: 429, headers: {} }, { recievedAt: 1 } as never),
    "parseRateLimit has no option 'recievedAt'; did you mean 'receivedAt'?",
  ],
])('a wrong option is an error that names the right one: %s', (work, message) => {
  expect(work).toThrow(message);
});
