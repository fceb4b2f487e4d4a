import { farStore } from '../../../../tests/support/far-store.js';
import { StoreHealth } from '../health/store-health.js';
import {
  CombinedLimiter,
  concurrency,
  fixedWindow,
  type Policy,
  RateLimiter,
  type RateLimiterOptions,
  type Store,
  StoreConfigurationError,
  tokenBucket,
} from '../index.js';

const window = fixedWindow({ limit: 2, window: '10s' });

function far(parts: Partial<Store> = {}) {
  const { store, memory, ...rest } = farStore(parts);
  const limiter = (policy: Policy = window, options: Partial<RateLimiterOptions> = {}) =>
    new RateLimiter({ name: 'demo', policy, store, ...options } as RateLimiterOptions);
  const elsewhere = new RateLimiter({ name: 'demo', policy: window, store: memory });
  return { ...rest, store, limiter, elsewhere };
}

test('a denied key is denied from memory for one second, with the remaining wait', async () => {
  const { clock, limiter, withOperations } = far();
  const one = limiter();
  await one.consume('k', { cost: 2 });
  expect(await one.consume('k')).toMatchObject({ allowed: false, source: 'far', retryAfter: 10_000 });
  await clock.advance('999ms');
  expect(await withOperations(() => one.consume('k'))).toMatchObject([
    {
      allowed: false,
      source: 'deny-cache',
      degraded: false,
      retryAfter: 9_001,
      resetAfter: 9_001,
      remaining: 0,
    },
    [],
  ]);
  await clock.advance('1ms');
  expect(await withOperations(() => one.consume('k'))).toMatchObject([
    { source: 'far', retryAfter: 9_000 },
    ['consume'],
  ]);
});

test('a cached denial ends at the moment at which the call would pass', async () => {
  const { clock, limiter, withOperations } = far();
  const one = limiter(tokenBucket({ capacity: 1, refill: 10, every: '1s' }));
  await one.consume('k');
  await one.consume('k');
  await clock.advance('99.999ms');
  expect(await withOperations(() => one.consume('k'))).toMatchObject([{ allowed: false, retryAfter: 1 }, []]);
  await clock.advance('0.001ms');
  expect(await withOperations(() => one.consume('k'))).toMatchObject([{ allowed: true }, ['consume']]);
});

test('calls of one turn share a reading of the clock, and still notice that time passes', async () => {
  const { clock, limiter } = far();
  const one = limiter(tokenBucket({ capacity: 1, refill: 10, every: '1s' }));
  await one.consume('k');
  await one.consume('k');
  const now = jest.spyOn(clock, 'now');
  for (let i = 0; i < 16; i += 1) expect(await one.consume('k')).toMatchObject({ source: 'deny-cache' });
  expect(now).toHaveBeenCalledTimes(1);
  clock.set(clock.now() + 100_000);
  expect(await one.consume('k')).toMatchObject({ allowed: true });
});

test('another cost, another key and a peek are sent to the store', async () => {
  const { limiter, withOperations } = far();
  const one = limiter();
  await one.consume('k');
  await one.consume('k', { cost: 2 });
  expect(await withOperations(() => one.consume('k', { cost: 2 }))).toMatchObject([{ allowed: false }, []]);
  expect(await withOperations(() => one.peek('k', { cost: 2 }))).toMatchObject([
    { allowed: false },
    ['peek'],
  ]);
  expect(await withOperations(() => one.consume('other', { cost: 2 }))).toMatchObject([
    { allowed: true },
    ['consume'],
  ]);
  expect(await withOperations(() => one.consume('k'))).toMatchObject([{ allowed: true }, ['consume']]);
});

test.each<[string, (one: RateLimiter) => Promise<unknown>]>([
  ['reset', (one) => one.reset('k')],
  ['reward', (one) => one.reward('k')],
  ['override', (one) => one.override('k', fixedWindow({ limit: 9, window: '10s' }), { expiresIn: '1h' })],
])('%s in this process ends a cached denial at once', async (_, loosen) => {
  const { limiter } = far();
  const one = limiter();
  await one.consume('k', { cost: 2 });
  await one.consume('k');
  await loosen(one);
  expect(await one.consume('k')).toMatchObject({ allowed: true });
});

test('a refund and an unblock end a cached denial at once', async () => {
  const { limiter } = far();
  const one = limiter();
  const taken = await one.consume('k', { cost: 2 });
  await one.consume('k');
  await one.refund(taken);
  expect(await one.consume('k')).toMatchObject({ allowed: true });
  await one.block('k', '1h');
  expect(await one.consume('k')).toMatchObject({ allowed: false });
  await one.unblock('k');
  expect(await one.consume('k')).toMatchObject({ allowed: true });
});

test('a denial in flight during a reset is not cached', async () => {
  const { limiter } = far();
  const one = limiter();
  await one.consume('k', { cost: 2 });
  const denied = one.consume('k');
  await one.reset('k');
  expect(await denied).toMatchObject({ allowed: false });
  expect(await one.consume('k')).toMatchObject({ allowed: true });
});

test('a denial that the answer to a reset overtakes is not cached', async () => {
  const { limiter, hold } = far();
  const one = limiter();
  await one.consume('k', { cost: 2 });
  const deliver = hold();
  const denied = one.consume('k');
  hold()(); // later answers arrive at once
  await one.reset('k');
  deliver();
  expect(await denied).toMatchObject({ allowed: false });
  expect(await one.consume('k')).toMatchObject({ allowed: true });
});

test('any limiter of the store that resets a key ends its cached denials in this process', async () => {
  const { store, limiter } = far();
  const many = new RateLimiter({ name: 'many', policy: fixedWindow({ limit: 9, window: '1h' }), store });
  for (const denyCache of ['1s', false] as const) {
    const few = limiter(window, { denyCache });
    const both = new CombinedLimiter({ many, few });
    await few.consume('k', { cost: 2 });
    expect(await both.consume({ many: 'k', few: 'k' })).toMatchObject({ allowed: false });
    await few.reset('k');
    expect(await both.consume({ many: 'k', few: 'k' })).toMatchObject({ allowed: true });
    await few.reset('k');
  }
});

test('a change in another process applies after denyCache, by default one second', async () => {
  const { clock, limiter, elsewhere } = far();
  const [one, quick, none] = [
    limiter(),
    limiter(window, { denyCache: '100ms' }),
    limiter(window, { denyCache: false }),
  ];
  await one.consume('k', { cost: 2 });
  for (const each of [one, quick, none]) await each.consume('k');
  await elsewhere.reset('k');
  expect(await none.consume('k', { cost: 2 })).toMatchObject({ allowed: true });
  await elsewhere.reset('k');
  await clock.advance('100ms');
  expect(await one.consume('k')).toMatchObject({ allowed: false, source: 'deny-cache' });
  expect(await quick.consume('k')).toMatchObject({ allowed: true });
  await clock.advance('900ms');
  expect(await one.consume('k')).toMatchObject({ allowed: true });
});

test('a cached denial of several policies answers for all of them', async () => {
  const { store, withOperations } = far();
  const policies = {
    few: fixedWindow({ limit: 1, window: '1h' }),
    many: fixedWindow({ limit: 9, window: '1h' }),
  };
  const one = new RateLimiter({ name: 'both', policies, store });
  await one.consume('k');
  await one.consume('k');
  expect(await withOperations(() => one.consume('k'))).toMatchObject([
    { allowed: false, policy: 'few', policies: [{ remaining: 0 }, { remaining: 8 }] },
    [],
  ]);
  expect(await withOperations(() => one.consume('k', { cost: { few: 0 } }))).toMatchObject([
    { allowed: true },
    ['consume'],
  ]);
});

test('a concurrency denial is not cached, because a permit can be released at any moment', async () => {
  const { limiter, withOperations } = far();
  const one = limiter(concurrency({ limit: 1 }));
  await one.consume('k');
  await one.consume('k');
  expect(await withOperations(() => one.consume('k'))).toMatchObject([{ allowed: false }, ['consume']]);
  await one.close();
});

test('a cost above the limit is sent to the store each time', async () => {
  const { limiter, withOperations } = far();
  const one = limiter();
  await one.consume('k', { cost: 3 });
  expect(await withOperations(() => one.consume('k', { cost: 3 }))).toMatchObject([
    { retryAfter: Number.POSITIVE_INFINITY },
    ['consume'],
  ]);
});

describe('many calls of a denied key when its cached denial expires', () => {
  async function flooded(options: Partial<RateLimiterOptions> = {}, parts: Partial<Store> = {}) {
    const { clock, limiter, elsewhere, withOperations, fail } = far(parts);
    const one = limiter(window, options);
    await one.consume('k', { cost: 2 });
    await one.consume('k');
    await clock.advance('1s');
    const flood = () => withOperations(() => Promise.all(Array.from({ length: 50 }, () => one.consume('k'))));
    return { one, elsewhere, withOperations, fail, flood };
  }

  test('send one request to the store', async () => {
    const { flood } = await flooded();
    const [decisions, operations] = await flood();
    expect(operations).toEqual(['consume']);
    expect(decisions.map(({ allowed, retryAfter }) => [allowed, retryAfter])).toEqual(
      Array(50).fill([false, 9_000]),
    );
    expect((await flood())[1]).toEqual([]);
  });

  test('are each sent to the store if that request is allowed', async () => {
    const { elsewhere, flood } = await flooded();
    await elsewhere.reset('k');
    const [decisions, operations] = await flood();
    expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(2);
    expect(operations).toHaveLength(50);
  });

  test('are decided by the failure policy if the store is out, after one request', async () => {
    const health = new StoreHealth(() => undefined);
    const { fail, flood } = await flooded({}, { health });
    fail();
    const [decisions, operations] = await flood();
    expect(decisions.map(({ source }) => source)).toEqual(Array(50).fill('local'));
    expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(2);
    expect(operations).toEqual(['consume']);
    health.end();
  });

  test('reject with the error of that request, without further requests', async () => {
    const { fail, one, withOperations } = await flooded();
    fail(new StoreConfigurationError('WRONGTYPE'));
    const [outcomes, operations] = await withOperations(() =>
      Promise.allSettled(Array.from({ length: 50 }, () => one.consume('k'))),
    );
    expect(outcomes).toMatchObject(Array(50).fill({ reason: { message: 'WRONGTYPE' } }));
    expect(operations).toEqual(['consume']);
  });
});

test('the cache is bounded: a new denial evicts the oldest', async () => {
  const { limiter, withOperations } = far();
  const one = limiter(fixedWindow({ limit: 1, window: '1h' }));
  for (let i = 0; i <= 10_000; i += 1) {
    await one.consume(i);
    await one.consume(i);
  }
  expect((await withOperations(() => one.consume(0)))[1]).toEqual(['consume']);
  expect((await withOperations(() => one.consume(10_000)))[1]).toEqual([]);
});

test('a clock that goes back does not prolong a cached denial', async () => {
  const { clock, limiter, withOperations } = far();
  const one = limiter();
  await one.consume('k', { cost: 2 });
  await one.consume('k');
  clock.set(clock.now() - 3_600_000_000);
  expect((await withOperations(() => one.consume('k')))[1]).toEqual(['consume']);
});

test.each([0, -1, 'soon', true, Number.NaN])('rejects %p', (denyCache) => {
  expect(() => new RateLimiter({ policy: window, denyCache: denyCache as never })).toThrow(
    /RateLimiter: denyCache must be a duration/,
  );
});
