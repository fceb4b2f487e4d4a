import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { ManualClock, memoryStore } from '@sluice/core';
import { parseRules, Rules, runTests } from '@sluice/rules';
import { type ServedRules, serve } from '@sluice/serve';
import { descriptor, RlsClient, type RlsDescriptor } from '../../support/rls-client.js';

// The example of envoyproxy/ratelimit (Apache-2.0) as rules, compared with commit f2fb15770f7f: its limits are in
// examples/ratelimit/config/example.yaml, and each route of its examples/envoy/proxy.yaml sends the descriptors below.

const RULES = readFileSync(resolve(__dirname, 'envoy-example.yaml'), 'utf8');
const SERVICE = 'proxy'; // the --service-cluster of its Envoy

type Headers = Readonly<Record<string, string>>;
/** As Envoy's action `request_headers`: a descriptor whose header is missing is not sent. */
const ofHeaders = (headers: Headers, ...names: string[]): RlsDescriptor[] =>
  names.every((name) => name in headers)
    ? [descriptor(...names.map((name) => [name, headers[name]!] as const))]
    : [];

const ROUTES: Readonly<Record<string, (headers: Headers) => RlsDescriptor[]>> = {
  '/test': () => [descriptor(['source_cluster', SERVICE], ['destination_cluster', 'mock'])],
  '/header': (headers) => ofHeaders(headers, 'foo'),
  '/twoheader': (headers) => [...ofHeaders(headers, 'foo', 'bar'), ...ofHeaders(headers, 'foo', 'baz')],
  '/fourheader': (headers) => [
    ...ofHeaders(headers, 'foo', 'bar'),
    ...ofHeaders(headers, 'source_cluster', 'destination_cluster'),
  ],
  '/fiveheader': (headers) => [
    ...ofHeaders(headers, 'foo', 'bar'),
    ...ofHeaders(headers, 'source_cluster', 'destination_cluster'),
    ...ofHeaders(headers, 'category'),
  ],
  '/unspec': (headers) => ofHeaders(headers, 'unspec'),
  '/quota': () => [descriptor(['service', 'service_1']), descriptor(['service', 'service_2'])],
};

const clock = new ManualClock();
const store = memoryStore({ clock });
const rules = new Rules(RULES, { store });
let served: ServedRules;
let client: RlsClient;
beforeAll(async () => {
  served = await serve(rules, { port: 0, grpcPort: 0 });
  client = new RlsClient(served.grpcPort);
});
afterEach(() => clock.advance('2m'));
afterAll(async () => {
  client.close();
  await served.close();
  await rules.close();
  await store.close();
});

/** The statuses that Envoy would answer to equal requests. */
async function statuses(times: number, route: string, headers: Headers = {}): Promise<number[]> {
  const found: number[] = [];
  for (let i = 0; i < times; i += 1) {
    const { overall_code } = await client.shouldRateLimit('rl', ROUTES[route]!(headers));
    found.push(overall_code === 'OK' ? 200 : 429);
  }
  return found;
}

test('the tests in the rules pass', async () => {
  expect((await runTests(parseRules(RULES))).failed).toEqual([]);
});

test.each([
  ['one request a minute between two clusters', '/test', {}, [200, 429]],
  ['two for each value of foo', '/header', { foo: 'foo' }, [200, 200, 429]],
  ['three for each foo and bar', '/twoheader', { foo: 'foo', bar: 'bar' }, [200, 200, 200, 429]],
  ['one for any foo with bar bkthomps', '/twoheader', { foo: 'foo', bar: 'bkthomps' }, [200, 429]],
  ['none for the banned value', '/twoheader', { foo: 'foo', bar: 'banned' }, [429, 429]],
  ['one a second for each foo and baz', '/twoheader', { foo: 'foo', baz: 'baz' }, [200, 429]],
  ['three for not-so-shady', '/twoheader', { foo: 'foo', baz: 'not-so-shady' }, [200, 200, 200, 429]],
  ['shady is in shadow mode', '/twoheader', { foo: 'foo', baz: 'shady' }, [200, 200, 200, 200, 200]],
  ['two for each value of unspec', '/unspec', { unspec: 'x' }, [200, 200, 429]],
])('%s', async (_, route, headers, expected) => {
  expect(await statuses(expected.length, route, headers as unknown as Headers)).toEqual(expected);
});

test('unlimited descriptors pass', async () => {
  const passing = [descriptor(['qux', 'x']), descriptor(['foo', 'x'], ['bay', 'y'])];
  for (let i = 0; i < 20; i += 1)
    expect((await client.shouldRateLimit('rl', passing)).overall_code).toBe('OK');
});

const FAKE = { source_cluster: 'proxy', destination_cluster: 'fake' };
const BKTHOMPS = { source_cluster: 'proxy', destination_cluster: 'bkthomps' };
const OVERRIDE = { source_cluster: 'proxy', destination_cluster: 'override' };

// As in replaces.sh of its integration tests: a descriptor can switch off the limit of another one.
test.each([
  ['bkthomps beside another limit', '/fourheader', { foo: 'my_foo', bar: 'bkthomps', ...FAKE }, [200, 429]],
  ['bkthomps replaced', '/fourheader', { foo: 'my_foo', bar: 'bkthomps', ...BKTHOMPS }, [200, 200, 429]],
  ['banned replaced', '/fourheader', { foo: 'my_foo', bar: 'banned', ...OVERRIDE }, [200, 200, 429]],
  [
    'two limits replaced by the one of the account',
    '/fiveheader',
    { foo: 'my_foo', bar: 'bkthomps', ...FAKE, category: 'account' },
    [200, 200, 200, 200, 429],
  ],
])('%s', async (_, route, headers, expected) => {
  expect(await statuses(expected.length, route, headers as unknown as Headers)).toEqual(expected);
});

test('a quota is counted, and denies nothing', async () => {
  await statuses(2, '/quota');
  const { overall_code, statuses: each } = await client.shouldRateLimit('rl', ROUTES['/quota']!({}));
  expect([overall_code, each.map(({ code }) => code)]).toEqual(['OK', ['OK', 'OK']]);
  expect((await rules.limiter('quota-1').peek('service_1')).remaining).toBe(0);
});
