import {
  gcra,
  isRateLimitExceededError,
  leakyBucket,
  type Policy,
  tokenBucket,
  tokenBucketOfRate,
} from '../../../packages/core/src/index.js';
import { policies, policiesOf, ratesOf, rejection, StoreHarness, type StoreKind } from './harness.js';

const NEVER = Number.POSITIVE_INFINITY;

/** Limits without any permits: every call is denied, without a retry time. */
export function closedContract(kind: StoreKind): void {
  const harness = new StoreHarness(kind);

  const closed: [string, Policy][] = [
    ...policiesOf(kind).map(([name, policyOf]): [string, Policy] => [name, policyOf('1h', 0)]),
    [
      'a tokenBucket without refill',
      tokenBucket({ capacity: 5, refill: 0, every: '1h', initial: 2, borrow: 3 }),
    ],
    [
      'a tokenBucket of capacity 0 with borrow',
      tokenBucket({ capacity: 0, refill: 1, every: '1h', borrow: 3 }),
    ],
    ['batches of 0', tokenBucket({ capacity: 5, refill: 0, every: '1h', mode: 'interval' })],
    ['a rate of 0', tokenBucketOfRate({ rate: 0, burst: 5 })],
    ['gcra without a burst', gcra({ limit: 5, period: '1h', burst: 0 })],
    ['a leakyBucket that does not leak', leakyBucket({ capacity: 5, leak: 0, every: '1h' })],
  ];

  test.each(closed)('%s denies every call, and its retryAfter is Infinity', async (_, policy) => {
    const limiter = harness.limiter(policy);
    const never = { allowed: false, limit: 0, remaining: 0, retryAfter: NEVER };
    for (const step of ['0', '30m', '2h']) {
      await harness.clock.advance(step === '0' ? 0 : step);
      expect(await limiter.consume('k')).toMatchObject(never);
      expect(await limiter.consume('k', { cost: 7 })).toMatchObject(never);
      expect(await limiter.peek('k')).toMatchObject(never);
    }
    expect((await limiter.consume('k')).window).toBeGreaterThan(0);
    const error = await rejection(limiter.acquire('k', { timeout: '5h' }));
    expect(isRateLimitExceededError(error)).toBe(true);
    expect(error).toMatchObject({ retryAfter: NEVER });
    expect(await limiter.consume('k', { cost: 0 })).toMatchObject({ allowed: true, remaining: 0 });
  });

  test.each(ratesOf(kind))('%s counts earlier calls again when the limit is above 0', async (_, policyOf) => {
    const open = harness.limiter(policyOf('1h'));
    const shut = harness.limiter(policyOf('1h', 0), { name: open.name, store: harness.another() });
    await open.consume('k', { cost: 8 });
    expect(await shut.consume('k')).toMatchObject({ allowed: false, retryAfter: NEVER });
    expect(await open.peek('k')).toMatchObject({ remaining: 2 });
    expect(await open.consume('k', { cost: 2 })).toMatchObject({ allowed: true, remaining: 0 });
  });

  test.each(ratesOf(kind))('%s denies one key while an override of 0 permits lasts', async (_, policyOf) => {
    const limiter = harness.limiter(policyOf('1h'));
    await limiter.consume('k', { cost: 4 });
    await limiter.override('k', policyOf('1h', 0), { expiresIn: '1m' });
    expect(await limiter.consume('k')).toMatchObject({ allowed: false, limit: 0, retryAfter: NEVER });
    expect(await limiter.consume('else')).toMatchObject({ allowed: true });
    await limiter.override('k', policyOf('1h', 100), { expiresIn: '1m' });
    expect(await limiter.peek('k')).toMatchObject({ limit: 100, remaining: 96 });
    await limiter.removeOverride('k');
    expect(await limiter.peek('k')).toMatchObject({ limit: 10, remaining: 6 });
  });

  test('denies a call if one of several policies has no permits, and takes nothing from the others', async () => {
    const limiter = harness.limiter({ open: policies.gcra!('1h'), shut: policies.slidingLog!('1h', 0) });
    expect(await limiter.consume('k')).toMatchObject({ allowed: false, policy: 'shut', retryAfter: NEVER });
    expect((await limiter.peek('k')).policies[0]).toMatchObject({ remaining: 10 });
  });
}
