import cluster from 'node:cluster';
import { fixedWindow, type Store, type WarningCode } from '@sluice/core';
import { warnOnce } from '@sluice/core/internal';
import { OpenResponse } from '../../../tests/support/open-response.js';
import { MisuseChecks } from './misuse.js';
import { RequestLimit } from './request-limit.js';
import type { RequestView } from './views.js';

const request: RequestView = {
  ip: '192.0.2.1',
  user: undefined,
  method: 'GET',
  path: '/',
  params: {},
  query: {},
  body: undefined,
  headers: {},
  proxies: 'some',
};
const forwarded = { ...request, headers: { 'x-forwarded-for': '203.0.113.9' } };

let emitted: jest.SpyInstance;
let subject = 0;
/** A name that has no warning yet. */
const fresh = () => {
  subject += 1;
  return `limit-${subject}`;
};
const codes = () => emitted.mock.calls.map(([, { code }]) => code as WarningCode);

beforeEach(() => {
  emitted = jest.spyOn(process, 'emitWarning').mockReturnValue();
});
afterEach(() => jest.restoreAllMocks());

const limitOf = (name = fresh(), storeName = 'redis', store: object = {}) => ({
  name,
  store: Object.assign(store, { name: storeName }) as Store,
  single: undefined,
  ownKey: false,
});
const checksOf = ({ ownKey, ...source } = limitOf()) => {
  const checks = new MisuseChecks(source.name, ownKey ? { keyGenerator: () => '' } : {}, source);
  return (view: RequestView, key: string | number = '192.0.2.1') => {
    if (checks.active) checks.request(view, key);
  };
};

test('a warning has a code, a type and a link to the documentation', () => {
  const name = fresh();
  warnOnce('SLUICE_REFUND_LOST', name, 'lost');
  expect(emitted.mock.calls).toEqual([
    [
      'lost',
      {
        type: 'SluiceWarning',
        code: 'SLUICE_REFUND_LOST',
        detail: expect.stringContaining('#sluice_refund_lost'),
      },
    ],
  ]);
});

test('a warning is emitted once for each code and subject', () => {
  const [one, other] = [fresh(), fresh()];
  for (const name of [one, one, other]) warnOnce('SLUICE_REFUND_LOST', name, '');
  warnOnce('SLUICE_DRY_RUN_FAILED', one, '');
  expect(codes()).toEqual(['SLUICE_REFUND_LOST', 'SLUICE_REFUND_LOST', 'SLUICE_DRY_RUN_FAILED']);
});

test('copies of the package emit a warning once in total', async () => {
  const name = fresh();
  warnOnce('SLUICE_REFUND_LOST', name, '');
  await jest.isolateModulesAsync(async () => {
    const copy = await import('@sluice/core/internal');
    expect(copy.warnOnce).not.toBe(warnOnce);
    copy.warnOnce('SLUICE_REFUND_LOST', name, '');
  });
  expect(emitted).toHaveBeenCalledTimes(1);
});

describe('a framework that trusts every proxy', () => {
  test('causes a warning', () => {
    const check = checksOf();
    for (let i = 0; i < 3; i += 1) check({ ...request, proxies: 'all' });
    expect(codes()).toEqual(['SLUICE_TRUST_PROXY_ALL']);
  });

  test.each<[string, RequestView, string | number, boolean, boolean]>([
    ['an IPv6 network', { ...request, ip: '2001:db8::1' }, '2001:db8::/64', false, true],
    ['a mapped address', { ...request, ip: '::ffff:192.0.2.1' }, '192.0.2.1', false, true],
    ['an address in a template', request, 'GET|192.0.2.1', true, true],
    ['a user', request, 'ann', false, false],
    ['a number', request, 7, false, false],
    ['a path', request, 'orders/64', true, false],
    ['a user where there is no address', { ...request, ip: '' }, 'ann', false, false],
  ])('with a key of %s', (_name, view, key, ownKey, warned) => {
    checksOf({ ...limitOf(), ownKey })({ ...view, proxies: 'all' }, key);
    expect(codes()).toEqual(warned ? ['SLUICE_TRUST_PROXY_ALL'] : []);
  });
});

describe('a framework that trusts no proxy', () => {
  const none = { ...request, proxies: 'none' } as const;

  test.each([{ 'x-forwarded-for': '203.0.113.9' }, { forwarded: 'for=203.0.113.9' }])(
    'causes a warning if a request passed one: %j',
    (headers) => {
      const check = checksOf();
      check(none);
      for (let i = 0; i < 3; i += 1) check({ ...none, headers });
      expect(codes()).toEqual(['SLUICE_FORWARDED_UNTRUSTED']);
      expect(emitted.mock.calls[0][0]).toContain(Object.keys(headers)[0]);
    },
  );

  test('causes no warning for a header that a client sends much later', () => {
    const check = checksOf();
    for (let i = 0; i < 1000; i += 1) check(none);
    check({ ...forwarded, proxies: 'none' });
    expect(emitted).not.toHaveBeenCalled();
  });

  test.each([undefined, null, 'x'])('causes no warning with headers of %p', (headers) => {
    checksOf()({ ...none, headers });
    expect(emitted).not.toHaveBeenCalled();
  });
});

test('a framework that trusts some proxies, or does not report it, causes no warning', () => {
  const check = checksOf();
  check({ ...forwarded, proxies: undefined });
  check(forwarded);
  expect(emitted).not.toHaveBeenCalled();
});

test.each<[string | number, boolean, boolean]>([
  ['2001:db8::1', true, true],
  ['::ffff:192.0.2.1', true, true],
  ['2001:db8::/64', true, false],
  ['192.0.2.1', true, false],
  ['a:b', true, false],
  [7, true, false],
  ['2001:db8::1', false, false],
])('the key %p (own: %p) warns about a whole IPv6 address: %p', (key, ownKey, warned) => {
  const check = checksOf({ ...limitOf(), ownKey });
  for (let i = 0; i < 2; i += 1) check(request, key);
  expect(codes()).toEqual(warned ? ['SLUICE_IPV6_KEY'] : []);
});

describe('a request that is counted twice causes a warning', () => {
  const view = () => ({ ...request, source: {} });

  test('by one limiter with one key', () => {
    const check = checksOf();
    const [first, second] = [view(), view()];
    check(first);
    check(second);
    expect(emitted).not.toHaveBeenCalled();
    for (let i = 0; i < 3; i += 1) check({ ...first });
    expect(codes()).toEqual(['SLUICE_COUNTED_TWICE']);
  });

  test('by limiters of one name in one store, with another limiter in between', () => {
    const [name, store, one] = [fresh(), {}, view()];
    checksOf(limitOf(name, 'redis', store))(one);
    checksOf(limitOf(fresh(), 'redis', store))(one);
    expect(emitted).not.toHaveBeenCalled();
    checksOf(limitOf(name, 'redis', store))(one);
    expect(codes()).toEqual(['SLUICE_COUNTED_TWICE']);
  });

  test('for one of several keys', () => {
    const [name, one] = [fresh(), view()];
    const checks = new MisuseChecks(name, {}, limitOf(name));
    checks.request(one, { a: '192.0.2.1', b: 'ann' });
    checks.request(one, { a: 'ann', b: '192.0.2.1' });
    expect(emitted).not.toHaveBeenCalled();
    checks.request(one, { a: '192.0.2.1', b: 'bob' });
    expect(codes()).toEqual(['SLUICE_COUNTED_TWICE']);
  });

  test('unless the key, the name, the store or the request differs', () => {
    const [name, store, one] = [fresh(), {}, view()];
    const check = checksOf(limitOf(name, 'redis', store));
    check(one);
    check(one, 'other');
    checksOf(limitOf(fresh(), 'redis', store))(one);
    checksOf(limitOf(name))(one);
    check(view());
    check(request);
    check(request);
    expect(emitted).not.toHaveBeenCalled();
  });
});

describe('a worker of a cluster', () => {
  const { isWorker } = cluster;
  beforeEach(() => Object.assign(cluster, { isWorker: true }));
  afterEach(() => Object.assign(cluster, { isWorker }));

  test('causes a warning if it counts in memory', () => {
    const check = checksOf(limitOf(fresh(), 'memory'));
    expect(emitted).not.toHaveBeenCalled();
    check(request);
    expect(codes()).toEqual(['SLUICE_MEMORY_IN_CLUSTER']);
  });

  test('causes no warning if it counts in Redis', () => {
    checksOf()(request);
    expect(emitted).not.toHaveBeenCalled();
  });

  test('causes no warning with validate: false', () => {
    const policy = fixedWindow({ limit: 9, window: '1h' });
    const limit = new RequestLimit('rateLimit', { policy, validate: false });
    expect(limit.handle(request, new OpenResponse())).toMatchObject({ outcome: 'passed' });
    expect(emitted).not.toHaveBeenCalled();
  });
});

test('a process outside a cluster can count in memory without a warning', () => {
  checksOf(limitOf(fresh(), 'memory'))(request);
  expect(emitted).not.toHaveBeenCalled();
});

// The last test: no warning is emitted after it.
test('a process emits at most 1000 warnings', () => {
  for (let i = 0; i < 2000; i += 1) warnOnce('SLUICE_REFUND_LOST', `many-${i}`, '');
  expect(emitted.mock.calls.length).toBeLessThan(1000);
  expect(emitted.mock.calls.length).toBeGreaterThan(900);
});
