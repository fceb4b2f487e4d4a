import {
  concurrency,
  fixedWindow,
  type Policy,
  slidingLog,
  slidingWindow,
  tokenBucket,
  tokenBucketOfRate,
} from '@sluice/core';
import { type PolicyKind, policyKinds } from '@sluice/core/internal';
import { OpenResponse } from '../../../tests/support/open-response.js';
import { RequestLimit } from './request-limit.js';

let emitted: jest.SpyInstance;
let name = '';
let tests = 0;
const warnings = () => emitted.mock.calls.map(([text, { code }]) => [code, text]);

beforeEach(() => {
  emitted = jest.spyOn(process, 'emitWarning').mockReturnValue();
  tests += 1;
  name = `short-${tests}`;
});
afterEach(() => jest.restoreAllMocks());

const warning = (limit: string, option: string, value: number) => [
  'SLUICE_SHORT_WINDOW',
  `rateLimit: ${option}: ${value} of limit '${limit}' is ${value} milliseconds. Write '${value}s' if you mean seconds, '${value}ms' if ` +
    'you mean milliseconds',
];

/** A policy of each algorithm that needs a period, with 60 for it. */
const ofSixty = (policyKinds as readonly PolicyKind[]).flatMap(({ options, create }) => {
  const needed = Object.entries(options).filter(([, { optional }]) => !optional);
  const [period] = needed.find(([, { type }]) => type === 'duration') ?? [];
  if (period === undefined) return [];
  const given = needed.map(([name, { sample }]) => [name, name === period ? 60 : Number(sample)]);
  const policy = (create as (options: object) => Policy)(Object.fromEntries(given));
  return [[period, 60, policy] as [string, number, Policy]];
});

test.each<[string, number, Policy]>([
  ...ofSixty,
  ['window', 999, slidingWindow({ limit: 1, window: 999, slots: 2 })],
  ['window', 1, slidingLog({ limit: 1, window: 1 })],
])('%s: %d causes a warning', (option, value, policy) => {
  new RequestLimit('rateLimit', { policy, name });
  new RequestLimit('rateLimit', { policy, name });
  expect(warnings()).toEqual([warning(name, option, value)]);
});

test.each<[string, Policy]>([
  ['a string', fixedWindow({ limit: 1, window: '60ms' })],
  ['a second', fixedWindow({ limit: 1, window: 1000 })],
  ['a minute', tokenBucket({ capacity: 1, refill: 1, every: 60_000 })],
  ['a rate', tokenBucketOfRate({ rate: 1000, burst: 1 })],
  ['a lease', concurrency({ limit: 1, lease: 500 })],
])('%s causes no warning', (_, policy) => {
  new RequestLimit('rateLimit', { policy, name });
  expect(warnings()).toEqual([]);
});

test('each of several policies and limits can cause a warning', () => {
  const [short, long] = [fixedWindow({ limit: 1, window: 60 }), fixedWindow({ limit: 1, window: '1h' })];
  new RequestLimit('rateLimit', { policies: { long, short }, name });
  new RequestLimit('rateLimit', { limits: { long: { policy: long }, short: { policy: short } }, name });
  expect(warnings()).toEqual([warning(name, 'window', 60), warning(`${name}.short`, 'window', 60)]);
});

test('a policy that depends on the request can cause a warning', async () => {
  const limit = new RequestLimit('rateLimit', { policy: () => fixedWindow({ limit: 9, window: 60 }), name });
  expect(warnings()).toEqual([]);
  const request = {
    ip: '192.0.2.1',
    user: undefined,
    method: 'GET',
    path: '/',
    params: {},
    query: {},
    body: undefined,
    headers: {},
  };
  for (let i = 0; i < 2; i += 1) await limit.handle(request, new OpenResponse() as never);
  expect(warnings()).toEqual([warning(name, 'window', 60)]);
});

test('validate: false turns the warning off', () => {
  new RequestLimit('rateLimit', { policy: fixedWindow({ limit: 1, window: 60 }), name, validate: false });
  expect(warnings()).toEqual([]);
});
