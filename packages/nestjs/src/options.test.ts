import { concurrency, fixedWindow, memoryStore, RateLimiter } from '@sluice/core';
import { type SluiceModuleOptions, withDefaults } from './options.js';
import { SluiceRoot } from './root.js';

const policy = fixedWindow({ limit: 1, window: '1m' });
const root = {
  store: memoryStore(),
  keyPrefix: 'shop',
  deadline: '1s',
  user: () => 7,
  ipv6Subnet: 56,
} as const;
const { user, ipv6Subnet, ...place } = root;

test.each([
  [{ policy }, { policy, ...place, ipv6Subnet }],
  [
    { policy, limitType: 'IP' },
    { policy, limitType: 'IP', ...place, ipv6Subnet },
  ],
  [
    { policy, key: '#{ip}' },
    { policy, key: '#{ip}', ...place, ipv6Subnet },
  ],
  [
    { policy, key: '#{body.email}' },
    { policy, key: '#{body.email}', ...place },
  ],
  [
    { policy, limitType: 'USER' },
    { policy, limitType: 'USER', ...place, user },
  ],
  [
    { policy, key: ['USER', 'IP'] },
    { policy, key: ['USER', 'IP'], ...place, user, ipv6Subnet },
  ],
  [
    { policy, limitType: 'METHOD' },
    { policy, limitType: 'METHOD', ...place },
  ],
  [
    { policy, keyPrefix: 'own', ipv6Subnet: 48 },
    { policy, ...place, keyPrefix: 'own', ipv6Subnet: 48 },
  ],
] as const)("a guard with %j inherits the module's options that apply to it", (options, expected) => {
  expect(withDefaults(options, root)).toEqual(expected);
});

test('a guard with a body field as its key accepts ipv6Subnet of the module', async () => {
  const module = new SluiceRoot({ ipv6Subnet: 56 });
  expect(() => module.limit({ policy, key: '#{body.email}' })).not.toThrow();
  await module.onApplicationShutdown();
});

test('an undefined option is inherited from the module', () => {
  const undefineds = { store: undefined, keyPrefix: undefined, deadline: undefined, ipv6Subnet: undefined };
  expect(withDefaults({ policy, ...undefineds }, root)).toEqual({ policy, ...place, ipv6Subnet });
  expect(withDefaults({ limits: { ip: { policy, ipv6Subnet: undefined } } }, root)).toEqual({
    ...place,
    limits: { ip: { policy, ipv6Subnet } },
  });
});

test("a guard's own options override those of the module", () => {
  const own = { ...place, store: memoryStore(), deadline: '2s', keyGenerator: () => 'x' } as const;
  expect(withDefaults({ policy, ...own }, root)).toEqual({ policy, ...own });
});

test('each of several limits inherits the options that its key needs', () => {
  const limits = { ip: { policy }, user: { policy, limitType: 'USER' } } as const;
  expect(withDefaults({ limits }, root)).toEqual({
    ...place,
    limits: { ip: { policy, ipv6Subnet }, user: { policy, limitType: 'USER', user } },
  });
});

test("prefetch of the module applies only to policies that support it; a guard's own prefetch is checked", async () => {
  const { store, deadline } = root;
  const module = new SluiceRoot({ store, deadline, prefetch: { most: 10 } });
  const held = concurrency({ limit: 10 });
  expect(() => module.limit({ name: 'counted', policy })).not.toThrow();
  expect(() => module.limit({ name: 'held', policy: held })).not.toThrow();
  expect(() => module.limit({ name: 'own', policy: held, prefetch: { most: 10 } })).toThrow(
    /prefetch is for fixedWindow/,
  );
  await module.onApplicationShutdown();
});

test("a guard with a limiter keeps that limiter's options", () => {
  const limiter = new RateLimiter({ policy });
  expect(withDefaults({ limiter, limitType: 'USER' }, root)).toEqual({ limiter, limitType: 'USER', user });
});

test("without module options, a guard's options are unchanged", () => {
  expect(withDefaults({ policy }, {})).toEqual({ policy });
});

test.each([
  ['a policy', { policy }, "no option 'policy'"],
  ["the throttler's options", { ttl: 60, limit: 3 }, "no option 'ttl'"],
  ['a list of throttlers, as Nest spreads it', { 0: { ttl: 60, limit: 3 } }, "no option '0'"],
  ['throttlers', { throttlers: [] }, "no option 'throttlers'"],
])("the module refuses %s and names the option 'limit'", (_, options, problem) => {
  expect(() => new SluiceRoot(options as SluiceModuleOptions)).toThrow(
    `SluiceModule has ${problem}: pass what limits all requests in 'limit'`,
  );
});
