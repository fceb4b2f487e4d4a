import {
  concurrency,
  fixedWindow,
  gcra,
  leakyBucket,
  type Policy,
  slidingLog,
  slidingWindow,
  tokenBucket,
  tokenBucketOfRate,
} from '@sluice/core';
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

test.each<[string, number, Policy]>([
  ['window', 60, fixedWindow({ limit: 1, window: 60 })],
  ['window', 999, slidingWindow({ limit: 1, window: 999, slots: 2 })],
  ['window', 1, slidingLog({ limit: 1, window: 1 })],
  ['every', 60, tokenBucket({ capacity: 1, refill: 1, every: 60 })],
  ['period', 60, gcra({ limit: 1, period: 60 })],
  ['every', 60, leakyBucket({ capacity: 1, leak: 1, every: 60 })],
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
