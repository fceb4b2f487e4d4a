import { fixedWindow, type RateLimiter, slidingLog } from '../../../packages/core/src/index.js';
import {
  HOUR,
  nextWait,
  policiesOf,
  ratesOf,
  rejection,
  StoreHarness,
  type StoreKind,
  spaced,
  startWait,
} from './harness.js';

const MINUTE = HOUR / 60;

/** `block` and `override`: decisions about one key. */
export function overridingContract(kind: StoreKind): void {
  const harness = new StoreHarness(kind);

  describe.each(policiesOf(kind))('%s overridden', (name, policyOf) => {
    const limiterOf = () => harness.limiter(policyOf('1h'));
    const figures = async (limiter: RateLimiter, key = 'k') => {
      const { limit, remaining } = await limiter.peek(key);
      return { limit, remaining };
    };

    test('a blocked key is denied until the block ends, and keeps its count', async () => {
      const limiter = limiterOf();
      await limiter.consume('k', { cost: 4 });
      await limiter.block('k', '30m');
      expect(await limiter.consume('k')).toMatchObject({
        allowed: false,
        remaining: 0,
        retryAfter: 30 * MINUTE,
      });
      expect(await limiter.peek('k')).toMatchObject({ allowed: false, remaining: 0 });
      expect(await limiter.consume('other')).toMatchObject({ allowed: true });
      await harness.clock.advance(30 * MINUTE - 1);
      expect(await limiter.consume('k')).toMatchObject({ allowed: false, retryAfter: 1 });
      await harness.clock.advance(1);
      expect((await limiter.peek('k')).remaining).toBeGreaterThanOrEqual(6);
      expect(await limiter.consume('k')).toMatchObject({ allowed: true });
    });

    test('a block with the numbers of a smaller plan forget nothing that was taken', async () => {
      if (name === 'concurrency') return; // a holder renews its lease
      const large = harness.limiter(policyOf('3h', 100));
      const small = harness.limiter(policyOf('1h'), { name: large.name, store: harness.another() });
      await large.consume('k', { cost: 90 });
      const before = await large.peek('k');
      await small.block('k', '30m');
      await small.block('k', '1h', { keepLonger: true });
      expect(await large.peek('k')).toMatchObject({ allowed: false, retryAfter: HOUR });
      await small.unblock('k');
      expect(await large.peek('k')).toEqual(before);
    });

    test('unblock and reset end a block, and a later block replaces an earlier one', async () => {
      const limiter = limiterOf();
      await limiter.unblock('k');
      await limiter.block('k', '3h');
      await limiter.unblock('k');
      expect(await limiter.consume('k')).toMatchObject({ allowed: true, remaining: 9 });
      await limiter.block('k', '3h');
      await limiter.block('k', '10m');
      expect(await limiter.consume('k')).toMatchObject({ allowed: false, retryAfter: 10 * MINUTE });
      await limiter.reset('k');
      expect(await limiter.consume('k')).toMatchObject({ allowed: true, remaining: 9 });
    });

    test('a block with keepLonger never ends earlier than the block before', async () => {
      const limiter = limiterOf();
      await limiter.block('k', '1h', { keepLonger: true });
      await limiter.block('k', '10m', { keepLonger: true });
      expect(await limiter.consume('k')).toMatchObject({ allowed: false, retryAfter: HOUR });
      await limiter.block('k', '2h', { keepLonger: true });
      expect(await limiter.consume('k')).toMatchObject({ allowed: false, retryAfter: 2 * HOUR });
      await limiter.unblock('k');
      expect(await limiter.consume('k')).toMatchObject({ allowed: true });
      await expect(limiter.block('k', '1h', { keepLonger: 1 as never })).rejects.toThrow(TypeError);
    });

    test('acquire waits for the end of a block, or rejects when its timeout is shorter', async () => {
      const limiter = limiterOf();
      await limiter.block('k', '30m');
      const early = rejection(limiter.acquire('k', { timeout: '10m' }));
      const waiting = startWait(limiter, 'k', 1);
      await harness.answered(limiter);
      for (let minutes = 0; minutes < 30; minutes += 10) {
        expect(await limiter.peek('k')).toMatchObject({ remaining: 0 });
        await harness.clock.advance('10m');
        await harness.answered(limiter);
      }
      expect(await early).toMatchObject({ code: 'SLUICE_RATE_LIMIT_EXCEEDED' });
      expect(await waiting.acquired).toMatchObject({ allowed: true, waited: 30 * MINUTE });
    });

    test('after unblock the next call passes at once, although an earlier call still waits for the end of the block', async () => {
      const limiter = limiterOf();
      await limiter.block('k', '30m');
      const waiting = startWait(limiter, 'k', 1);
      await harness.answered(limiter);
      await limiter.unblock('k');
      await harness.answered(limiter);
      expect(await limiter.consume('k')).toMatchObject({ allowed: true });
      await harness.clock.advance('30m');
      expect(await waiting.acquired).toMatchObject({ allowed: true });
    });

    test('an override changes the limit of one key in all processes, and permits taken before still count', async () => {
      const limiter = limiterOf();
      await limiter.consume('k', { cost: 5 });
      await limiter.override('k', policyOf('1h', 100), { expiresIn: '3h' });
      const other = harness.limiter(policyOf('1h'), { name: limiter.name, store: harness.another() });
      expect(await figures(other)).toEqual({ limit: 100, remaining: 95 });
      expect(await figures(other, 'else')).toEqual({ limit: 10, remaining: 10 });
      await harness.clock.advance('2h');
      expect(await other.consume('k', { cost: 60 })).toMatchObject({ allowed: true, limit: 100 });
      await limiter.removeOverride('k');
      expect(await other.consume('k', { cost: 11 })).toMatchObject({ allowed: false, limit: 10 });
    });

    test('an override expires by itself, and survives a reset', async () => {
      const limiter = limiterOf();
      await limiter.override('k', policyOf('1h', 100), { expiresIn: '2h' });
      await limiter.reset('k');
      await harness.clock.advance(2 * HOUR - 1);
      expect(await figures(limiter)).toEqual({ limit: 100, remaining: 100 });
      await harness.clock.advance(1);
      expect(await figures(limiter)).toEqual({ limit: 10, remaining: 10 });
    });

    test('an override may be lower than the permits taken', async () => {
      const limiter = limiterOf();
      await limiter.consume('k', { cost: 5 });
      await limiter.override('k', policyOf('1h', 2), { expiresIn: '1d' });
      const never = { allowed: false, limit: 2, retryAfter: Number.POSITIVE_INFINITY };
      expect(await limiter.consume('k', { cost: 3 })).toMatchObject(never);
      expect((await figures(limiter)).remaining).toBeLessThanOrEqual(2);
      for (let calls = 0; calls < 2; calls += 1) await limiter.consume('k');
      expect(await limiter.consume('k')).toMatchObject({ allowed: false, remaining: 0 });
    });

    test('an override with another algorithm, without a policy, or without expiresIn rejects', async () => {
      const limiter = limiterOf();
      const foreign = name.startsWith('fixedWindow')
        ? slidingLog({ limit: 1, window: 1 })
        : fixedWindow({ limit: 1, window: 1 });
      await expect(limiter.override('k', foreign, { expiresIn: '1h' })).rejects.toThrow(TypeError);
      await expect(limiter.override('k', policyOf('1h'), {} as never)).rejects.toThrow(RangeError);
      await expect(limiter.override('k', undefined as never, { expiresIn: '1h' })).rejects.toThrow(TypeError);
      await expect(limiter.block('k', 0)).rejects.toThrow(RangeError);
      expect(await figures(limiter)).toEqual({ limit: 10, remaining: 10 });
    });
  });

  test('an override of a calendar window changes the limit, and the key keeps its windows', async () => {
    const monthly = { window: '1 month', anchor: 15, timeZone: 'Europe/Berlin' } as const;
    const limiter = harness.limiter(fixedWindow({ limit: 10, ...monthly })); // it is the first of January 2025 in UTC
    await limiter.consume('k', { cost: 10 });
    const resetAfter = Date.parse('2025-01-15T00:00+01:00') - Date.parse('2025-01-01T00:00Z');
    await limiter.override('k', fixedWindow({ limit: 12, ...monthly }), { expiresIn: '60d' });
    expect(await limiter.consume('k')).toMatchObject({ allowed: true, limit: 12, remaining: 1, resetAfter });
    await harness.clock.advance(resetAfter);
    const february = 31 * 24 * HOUR;
    expect(await limiter.consume('k')).toMatchObject({ remaining: 11, resetAfter: february });
    await harness.clock.advance(february);
    expect(await limiter.consume('k')).toMatchObject({ remaining: 11, resetAfter: 28 * 24 * HOUR });
    await limiter.removeOverride('k');
    expect(await limiter.peek('k')).toMatchObject({ limit: 10, remaining: 9, resetAfter: 28 * 24 * HOUR });
    for (const other of [
      fixedWindow({ limit: 12, window: '30d' }),
      fixedWindow({ limit: 12, ...monthly, anchor: 16 }),
    ])
      await expect(limiter.override('k', other, { expiresIn: '1d' })).rejects.toThrow(/keeps its windows/);
  });

  describe.each(ratesOf(kind))('%s, counted by two policies', (_, policyOf) => {
    // Under the override all permits are back after a second.
    test.each(['ends', 'is removed'])('calls before an override still count when it %s', async (end) => {
      const limiter = harness.limiter(policyOf('1h'));
      await limiter.consume('k', { cost: 10 });
      await limiter.override('k', policyOf('1s', 100), { expiresIn: '1m' });
      await harness.clock.advance(MINUTE - 1);
      expect(await limiter.peek('k')).toMatchObject({ limit: 100, remaining: 100 });
      if (end === 'is removed') await limiter.removeOverride('k');
      await harness.clock.advance(1);
      const { allowed, limit, retryAfter } = await limiter.consume('k');
      expect({ allowed, limit }).toEqual({ allowed: false, limit: 10 });
      expect(retryAfter).toBeGreaterThanOrEqual(5 * MINUTE);
      // A slot counts in full.
      expect(retryAfter).toBeLessThanOrEqual(HOUR + HOUR / 10);
    });

    test('calls during an override count afterwards, up to one whole limit', async () => {
      const limiter = harness.limiter(policyOf('1h'));
      await limiter.override('k', policyOf('1s', 1000), { expiresIn: '1m' });
      await limiter.consume('k', { cost: 3 });
      await harness.clock.advance(MINUTE / 2);
      expect(await limiter.consume('k', { cost: 900 })).toMatchObject({ allowed: true });
      await harness.clock.advance(MINUTE / 2);
      const denied = await limiter.consume('k');
      expect(denied).toMatchObject({ allowed: false, limit: 10, remaining: 0 });
      expect(denied.retryAfter).toBeLessThanOrEqual(HOUR + HOUR / 10);
      await harness.clock.advance(HOUR + HOUR / 10);
      expect(await limiter.peek('k')).toMatchObject({ remaining: 10, resetAfter: 0 });
    });

    test('during an override refunds and penalties also apply to the policy', async () => {
      const limiter = harness.limiter(policyOf('1h'));
      const taken = await limiter.consume('k', { cost: 10 });
      await limiter.override('k', policyOf('1s', 100), { expiresIn: '1m' });
      await limiter.refund(taken);
      await limiter.penalty('k', 4);
      await harness.clock.advance('1m');
      expect((await limiter.peek('k')).remaining).toBe(6);
    });
  });

  test.each(ratesOf(kind))(
    '%s: a call that waits already passes at its moment, also during a later block',
    async (name, policyOf) => {
      const limiter = harness.limiter(policyOf('1h'));
      await limiter.acquire('k', { cost: spaced.has(name) ? 1 : 10 });
      const wait = await nextWait(limiter, 'k', 1);
      const waiting = startWait(limiter, 'k', 1);
      await harness.answered(limiter);
      await limiter.block('k', '3h');
      await harness.clock.advance(wait);
      expect(await waiting.acquired).toMatchObject({ waited: wait });
      expect(await limiter.peek('k')).toMatchObject({ retryAfter: 3 * HOUR - wait });
    },
  );

  test('an override can change one of several policies, and rejects for an unknown name', async () => {
    const policies = {
      short: fixedWindow({ limit: 2, window: '1m' }),
      long: slidingLog({ limit: 5, window: '1h' }),
    };
    const limiter = harness.limiter(policies);
    await limiter.override('k', { short: fixedWindow({ limit: 4, window: '1m' }) }, { expiresIn: '1h' });
    expect(await limiter.consume('k', { cost: 4 })).toMatchObject({
      allowed: true,
      policies: [{ limit: 4 }, { limit: 5 }],
    });
    expect(await limiter.consume('k')).toMatchObject({ allowed: false, policy: 'short', limit: 4 });
    const wrong = limiter.override('k', { shrot: policies.short }, { expiresIn: '1h' });
    await expect(wrong).rejects.toThrow("no option 'shrot'");
    await limiter.block('k', '10m');
    expect(await limiter.consume('k')).toMatchObject({ allowed: false, retryAfter: 10 * MINUTE });
  });
}
