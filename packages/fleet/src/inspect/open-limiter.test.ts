import { fixedWindow, memoryStore, type Policy, RateLimiter, redisStore, type Store } from '@sluice/core';
import { redisUrl, uniqueName } from '../../../../tests/support/redis-url.js';
import { openLimiter } from '../index.js';

const policy = fixedWindow({ limit: 2, window: '1h' });
const definitionOf = (limiter: RateLimiter) => RateLimiter.internals(limiter).limits.definition('limiter');

const stores: [string, () => Store][] = [
  ['memory', () => memoryStore()],
  ['redis', () => redisStore(redisUrl())],
];

describe.each(stores)('%s', (_, open) => {
  const store = open();
  afterAll(() => store.close());

  test.each<[string, { policy: Policy } | { policies: Record<string, Policy> }]>([
    ['one policy', { policy }],
    ['several policies', { policies: { perHour: policy, perDay: fixedWindow({ limit: 9, window: '1d' }) } }],
    ['one policy by name', { policies: { perHour: policy } }],
  ])('changes the keys of a limiter with %s', async (_name, policies) => {
    const options = { store, keyPrefix: 'app', hashTag: 'tag', deadline: '10s', denyCache: false } as const;
    const limiter = new RateLimiter({ name: uniqueName('opened'), ...options, ...policies });
    const opened = openLimiter(store, definitionOf(limiter));
    await limiter.consume('ann', { cost: 2 });
    await opened.reset('ann');
    expect(await limiter.peek('ann')).toMatchObject({ allowed: true, remaining: 2 });
    await opened.block('ann', '1h');
    expect(await limiter.peek('ann')).toMatchObject({ allowed: false });
    await Promise.all([limiter.close(), opened.close()]);
  });
});

test('throws for a definition without keys, and for another layout', async () => {
  const store = memoryStore();
  const limiter = new RateLimiter({ name: 'login', policy, store });
  const definition = definitionOf(limiter);
  expect(() => openLimiter(store, { ...definition, kind: 'shared', policies: {} })).toThrow(
    /has no keys of its own/,
  );
  const later = { ...definition, prefixes: { login: 'sluice:v3:fw:login:{' } };
  expect(() => openLimiter(store, later)).toThrow(/at sluice:v3:fw:login:\{, and this version at sluice:v2:/);
  expect(() => openLimiter(store, { ...definition, policies: { login: { algorithm: 'next' } } })).toThrow(
    TypeError,
  );
  await limiter.close();
});
