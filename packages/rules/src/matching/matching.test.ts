import { memoryStore, type Store } from '@sluice/core';
import { pathOf, type RequestView, writtenPathOf } from '@sluice/http';
import fc from 'fast-check';
import { parseRules, Rules } from '../index.js';
import { compileGlob } from './glob.js';
import { compilePath, SplitPath } from './path-pattern.js';

const LIMIT = { gcra: { limit: 1, period: '1m' } };
const request = (given: Partial<RequestView>): RequestView => ({
  ip: '203.0.113.7',
  user: undefined,
  method: 'GET',
  path: '/',
  params: {},
  query: {},
  body: undefined,
  headers: {},
  ...given,
});
const matches = (match: object, given: Partial<RequestView>) =>
  parseRules({ rules: [{ name: 'a', match, limit: LIMIT }] }).match(request(given)).length === 1;

test.each([
  ['/v1/*', '/v1/a', true],
  ['/v1/*', '/v1/a/b', true],
  ['/v1/*', '/v1', true],
  ['/v1/*', '/v10', false],
  ['/*', '/', true],
  ['/', '/', true],
  ['/', '/a', false],
  ['/v1/', '/v1', true],
  ['/v1/:id', '/v1/5', true],
  ['/v1/:id', '/v1/5/6', false],
  ['/v1/:id', '/v1', false],
  ['/v1/*/items', '/v1/5/items', true],
  ['/v1/*/items', '/v1/items', false],
  ['/a*b*c', '/a--b--c', true],
  ['/a*b*c', '/acb', false],
  ['/a*a', '/a', false],
  ['/V1/Users', '/v1/users', true],
  ['/v1/users', '/V1/USERS', true],
  ['/caf%C3%A9', '/café', true],
  ['/a//b/./c/../d', '/a/b/d', true],
])('the pattern %s matches the path %s: %s', (path, given, result) => {
  expect(matches({ path }, { path: given })).toBe(result);
});

test.each<[object, Partial<RequestView>, boolean]>([
  [{ ip: '10.0.0.0/8' }, { ip: '10.255.0.1' }, true],
  [{ ip: '10.0.0.0/8' }, { ip: '::ffff:10.1.2.3' }, true],
  [{ ip: '10.0.0.0/8' }, { ip: '::ffff:a01:203' }, true],
  [{ ip: '::ffff:10.0.0.0/104' }, { ip: '10.1.2.3' }, true],
  [{ ip: '10.0.0.0/8' }, { ip: '11.0.0.1' }, false],
  [{ ip: ['192.0.2.7', '2001:db8::/32'] }, { ip: '2001:DB8:0:1::9' }, true],
  [{ ip: ['192.0.2.7', '2001:db8::/32'] }, { ip: '192.0.2.7' }, true],
  [{ ip: '2001:db8::1' }, { ip: '2001:db8::2' }, false],
  [{ ip: '::/0' }, { ip: '192.0.2.7' }, false],
  [{ ip: '0.0.0.0/0' }, { ip: undefined }, false],
  [{ ip: '0.0.0.0/0' }, { ip: 'no address' }, false],
  [{ query: { format: 'csv' } }, { query: { format: 'csv' } }, true],
  [{ query: { format: ['csv', 'x*'] } }, { query: { format: 'xls' } }, true],
  [{ query: { format: 'csv' } }, { query: { format: ['json', 'csv'] } }, true],
  [{ query: { format: 'csv' } }, { query: {} }, false],
  [{ query: { format: '*' } }, { query: { format: { a: Object.create(null) } } }, true],
  [{ query: { format: 'csv' } }, { query: { format: [Object.create(null)] } }, false],
  [{ query: { __proto: '*' } }, { query: JSON.parse('{"__proto__":"x"}') }, false],
  [{ query: { constructor: '*' } }, { query: {} }, false],
  [{ query: { page: 2 } }, { query: { page: '2' } }, true],
  [{ user: 'ann' }, { user: { id: 'ann' } }, true],
  [{ user: ['bob', 7] }, { user: { id: 7 } }, true],
  [{ user: 'bot-*' }, { user: 'bot-7' }, true],
  [{ user: 'ann' }, { user: { id: 'eve', name: 'ann' } }, false],
  [{ user: '*' }, { user: 0 }, true],
  [{ user: '*' }, { user: { name: 'ann' } }, false],
  [{ user: '*' }, { user: undefined }, false],
  [{ user: '*' }, { user: false }, false],
  [{ path: '/*', not: { user: '*' } }, { user: null }, true],
  [{ user: { role: 'admin' } }, { user: { id: 1, role: 'admin' } }, true],
  [{ user: { role: ['admin', 'staff'] } }, { user: { roles: ['staff'], role: ['staff'] } }, true],
  [{ user: { role: 'admin', beta: true } }, { user: { role: 'admin' } }, false],
  [{ user: { constructor: '*' } }, { user: { id: 1 } }, false],
  [{ header: { 'X-Beta': ['1', '2'] } }, { headers: { 'x-beta': '2' } }, true],
])('the match %j matches the request %j: %s', (match, given, result) => {
  expect(matches(match, given)).toBe(result);
});

test('a match by plan reads the plan as limits do: an unknown plan is the default plan', () => {
  const text = `
plans: { free: {}, pro: {}, corp: {} }
defaultPlan: free
rules:
  - name: export
    match: { path: /export, plan: free }
    plan: '#{user.plan}'
    limit: { gcra: { limit: 1, period: 1m } }
  - name: corp
    match: { plan: corp }
    plan: '#{user.plan}'
    unlimited: true
  - name: others
    match: { path: /*, not: { plan: [free, corp] } }
    plan: '#{user.plan}'
    limit: { gcra: { limit: 9, period: 1m } }
  - name: next
    mode: shadow
    compare: export
    limit: { gcra: { limit: 2, period: 1m } }
`;
  const set = parseRules(text);
  const found = (user: unknown) => set.match(request({ path: '/export', user })).map(({ rule }) => rule.name);
  expect(found(undefined)).toEqual(['export', 'next']);
  expect(found({ plan: 'misspelt' })).toEqual(['export', 'next']);
  expect(found({ plan: 'pro' })).toEqual(['others']);
  expect(found({ plan: 'corp' })).toEqual([]);
});

test('a path matches in every spelling', () => {
  for (const url of ['/v1/login', '//v1///login/', '/v1/%6Cogin', '/v1/x/../login', '/v1/./login?a=1']) {
    expect(matches({ path: '/v1/login' }, { path: pathOf(url) })).toBe(true);
  }
});

describe('a path with dot segments, which Node keeps and proxies resolve', () => {
  const viewOf = (url: string) => request({ path: pathOf(url), writtenPath: writtenPathOf(url) });
  const names = (url: string) => {
    const rules = [
      { name: 'v1', match: { path: '/v1/*' }, limit: LIMIT },
      { name: 'search', match: { path: '/v1/search/*', not: { path: '/v1/search/free' } }, limit: LIMIT },
      { name: 'health', match: { path: '/health' }, unlimited: true as const },
      { name: 'partner', match: { path: '/partner/*' }, replaces: ['v1'], limit: LIMIT },
    ];
    return parseRules({ rules })
      .match(viewOf(url))
      .map(({ rule }) => rule.name);
  };

  test.each([
    ['/v1/search/../../x', ['v1', 'search']],
    ['/v1/search/%2e%2e/%2E./x', ['v1', 'search']],
    ['/v1/search/../a', ['v1', 'search']],
    ['/x/../v1/search', ['v1', 'search']],
    ['/v1/../../..', ['v1']],
    ['/x/../y', []],
  ])('the limits of %s are those of both its readings: %j', (url, expected) => {
    expect(names(url)).toEqual(expected);
  });

  test.each([
    ['/v1/search/../../health', ['v1', 'search']],
    ['/health/../v1/search', ['v1', 'search']],
    ['/v1/search/../search/free', ['v1', 'search']],
    ['/v1/search/../../partner/a', ['v1', 'search', 'partner']],
    ['/partner/../v1/a', ['v1', 'partner']],
    ['/partner/../partner/a', ['partner']],
  ])('an exception applies to %s only if both readings match it: %j', (url, expected) => {
    expect(names(url)).toEqual(expected);
  });

  test('a param has the value that the router reads', () => {
    const rules = [{ name: 'a', match: { path: '/v1/:id/*' }, key: '#{params.id}', limit: LIMIT }];
    const [matched] = parseRules({ rules }).match(viewOf('/v1/ann/../bob/x'));
    expect(matched?.key).toBe('ann');
  });
});

test.each([
  [{ method: 'GET' }, { method: 'HEAD' }, true],
  [{ method: 'post' }, { method: 'POST' }, true],
  [{ method: ['PUT', 'PATCH'] }, { method: 'GET' }, false],
  [{ host: 'api.example.com' }, { headers: { host: 'API.Example.com:8443' } }, true],
  [{ host: '*.example.com' }, { headers: { host: 'a.b.example.com.' } }, true],
  [{ host: '*.example.com' }, { headers: { host: 'example.com' } }, false],
  [{ host: '*.example.com' }, { headers: {} }, false],
  [{ host: '[2001:db8::1]' }, { headers: { host: '[2001:db8::1]:80' } }, true],
  [{ host: 'a.example' }, { headers: { ':authority': 'a.example' } }, true],
  [{ header: { 'X-Beta': true } }, { headers: { 'x-beta': 'true' } }, true],
  [{ header: { 'x-beta': '*' } }, { headers: {} }, false],
  [{ header: { 'x-beta': 'a*' } }, { headers: { 'x-beta': ['b', 'ab'] } }, true],
  [{ header: { __proto__x: '*', constructor: '*' } }, { headers: {} }, false],
  [{ path: '/*', not: [{ path: '/a' }, { method: 'POST' }] }, { path: '/a' }, false],
  [{ path: '/*', not: [{ path: '/a' }, { method: 'POST' }] }, { path: '/b', method: 'POST' }, false],
  [{ path: '/*', not: [{ path: '/a' }, { method: 'POST' }] }, { path: '/b' }, true],
  [{ path: '/*', not: { path: '/a', method: 'POST' } }, { path: '/a' }, true],
])('the match %j matches the request %j: %s', (match, given, result) => {
  expect(matches(match, given)).toBe(result);
});

test('params of the pattern resolve in keys, before params of the framework', () => {
  const rules = [
    { name: 'a', match: { path: ['/x', '/v1/:id/*'] }, key: '#{params.id}:#{params.other}', limit: LIMIT },
  ];
  const [matched] = parseRules({ rules }).match(
    request({ path: '/v1/Seven/b', params: { id: 1, other: 2 } }),
  );
  expect(matched?.key).toBe('Seven:2');
});

test('a glob matches what the equivalent regular expression matches', () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 8 });
  const texts = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 12 });
  fc.assert(
    fc.property(letters, texts, (pattern, text) => {
      expect(compileGlob(pattern)(text)).toBe(new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(text));
    }),
  );
});

test('a pattern that would make a regular expression backtrack matches in linear time', () => {
  const pattern = compilePath(`/${'a*'.repeat(400)}b`);
  expect(pattern.match(new SplitPath(`/${'a'.repeat(100_000)}`))).toBeUndefined();
});

test('the index finds the same rules as a linear search', () => {
  const segment = fc.constantFrom('a', 'b', ':x', '*', 'a*');
  const paths = fc.array(fc.array(segment, { maxLength: 3 }), { minLength: 1, maxLength: 3 });
  const given = fc.array(fc.constantFrom('a', 'b', 'ab', 'c'), { maxLength: 4 });
  fc.assert(
    fc.property(fc.array(paths, { minLength: 1, maxLength: 8 }), given, (lists, segments) => {
      const rules = lists.map((list, i) => ({
        name: `r${i}`,
        match: {
          path: list.map((one) => `/${one.map((part, at) => (part === ':x' ? `:x${at}` : part)).join('/')}`),
        },
        limit: LIMIT,
      }));
      const set = parseRules({ rules });
      const path = `/${segments.join('/')}`;
      const split = new SplitPath(path);
      const all = rules.filter(({ match }) =>
        match.path.some((one) => compilePath(one).match(split) !== undefined),
      );
      expect(set.match(request({ path })).map(({ rule }) => rule.name)).toEqual(all.map(({ name }) => name));
    }),
  );
});

describe('in a Redis Cluster without a hashTag', () => {
  const cluster = (): Store => Object.create(memoryStore(), { slotted: { value: true } });
  const rulesOf = (matches: readonly object[], more: object = {}) =>
    new Rules(
      {
        rules: matches.map((match, i) => ({ name: `r${i}`, match, limit: LIMIT, ...(i === 1 ? more : {}) })),
      },
      { store: cluster() },
    );

  test.each([
    [[{ path: '/v1/*' }, { path: '/v1/:id' }]],
    [[{ path: '/a*' }, { path: '/ab' }]],
    [[{ path: '/a' }, { method: 'GET' }]],
    [
      [
        { path: '/a', host: '*.example' },
        { path: '/a', host: 'b.example' },
      ],
    ],
  ])('rules that can match one request are refused: %j', (matches) => {
    expect(() => rulesOf(matches)).toThrow("'r0' and 'r1' can match one request, and a Redis Cluster");
  });

  test.each([
    [[{ path: '/v1/*' }, { path: '/v2/*' }]],
    [[{ path: '/a/b' }, { path: '/a' }]],
    [
      [
        { path: '/a', method: 'GET' },
        { path: '/a', method: 'POST' },
      ],
    ],
    [
      [
        { path: '/a', host: 'a.example' },
        { path: '/a', host: 'b.example' },
      ],
    ],
  ])('rules that cannot match one request are accepted: %j', (matches) => {
    expect(() => rulesOf(matches)).not.toThrow();
  });

  test('a path whose two readings match different rules is a client error (400)', () => {
    const rules = rulesOf([{ path: '/v1/*' }, { path: '/v2/*' }]);
    const matchOf = (url: string) => () =>
      rules.match(request({ path: pathOf(url), writtenPath: writtenPathOf(url) }));
    expect(matchOf('/v1/../v2/a')).toThrow(expect.objectContaining({ status: 400, expose: true }));
    expect(matchOf('/v1/../v1/a')).not.toThrow();
  });

  test('rules of which one replaces the other are accepted', () => {
    expect(() => rulesOf([{ path: '/*' }, { path: '/a' }], { replaces: ['r0'] })).not.toThrow();
  });
});
