import { fixedWindow, tokenBucket } from '../../../packages/core/src/index.js';
import { HOUR, policies, policiesOf, ratesOf, StoreHarness, type StoreKind } from './harness.js';

const NEVER = Number.POSITIVE_INFINITY;

/** `consume`, `peek`, `reset`: what may go now. */
export function decidingContract(kind: StoreKind): void {
  const harness = new StoreHarness(kind);

  describe.each(policiesOf(kind))('%s decides', (_, policyOf) => {
    test('lets exactly 10 of 50 calls at once pass, and counts remaining down to 0', async () => {
      const limiter = harness.limiter(policyOf('1h'));
      const decisions = await Promise.all(Array.from({ length: 50 }, () => limiter.consume('k')));
      expect(decisions.filter(({ allowed }) => allowed).map(({ remaining }) => remaining)).toEqual([
        9, 8, 7, 6, 5, 4, 3, 2, 1, 0,
      ]);
      for (const { allowed, retryAfter, remaining } of decisions.slice(10)) {
        expect({ allowed, remaining }).toEqual({ allowed: false, remaining: 0 });
        expect(retryAfter).toBeGreaterThan(0);
        expect(retryAfter).toBeLessThanOrEqual(1.1 * HOUR);
      }
    });

    test('counts each key and each limiter apart', async () => {
      const limiter = harness.limiter(policyOf('1h'));
      await limiter.consume('a', { cost: 10 });
      expect(await limiter.consume('b', { cost: 10 })).toMatchObject({ allowed: true });
      expect(await harness.limiter(policyOf('1h')).consume('a', { cost: 10 })).toMatchObject({
        allowed: true,
      });
    });

    test('takes a cost whole or not at all, and denies a cost above the limit with retryAfter Infinity', async () => {
      const limiter = harness.limiter(policyOf('1h'));
      expect(await limiter.consume('k', { cost: 7 })).toMatchObject({ allowed: true, remaining: 3 });
      expect(await limiter.consume('k', { cost: 4 })).toMatchObject({ allowed: false, remaining: 3 });
      expect(await limiter.consume('k', { cost: 11 })).toMatchObject({ allowed: false, retryAfter: NEVER });
      expect(await limiter.consume('k', { cost: 3 })).toMatchObject({ allowed: true, remaining: 0 });
    });

    test('takes nothing for a cost of 0 or a peek', async () => {
      const limiter = harness.limiter(policyOf('1h'));
      expect(await limiter.consume('k', { cost: 0 })).toMatchObject({ allowed: true, remaining: 10 });
      expect(await limiter.peek('k', { cost: 5 })).toMatchObject({ allowed: true, remaining: 10 });
      expect(await limiter.consume('k')).toMatchObject({ remaining: 9 });
      expect(await limiter.peek('k', { cost: 10 })).toMatchObject({ allowed: false, remaining: 9 });
    });

    test('returns the limit and window of the policy, and has all permits back after resetAfter', async () => {
      const limiter = harness.limiter(policyOf('1h'));
      const unused = { limit: 10, window: HOUR, remaining: 10, resetAfter: 0, source: harness.store.name };
      expect(await limiter.peek('k')).toMatchObject(unused);
      const { resetAfter } = await limiter.consume('k', { cost: 4 });
      expect(resetAfter).toBeGreaterThan(0);
      await harness.clock.advance(resetAfter - 1);
      await harness.answered(limiter);
      if (policyOf !== policies.concurrency) {
        expect((await limiter.peek('k')).remaining).toBeLessThan(10);
        await harness.clock.advance(1);
        expect(await limiter.peek('k')).toMatchObject(unused);
      }
    });

    test('returns all permits on reset, also the second time', async () => {
      const limiter = harness.limiter(policyOf('1h'));
      await limiter.consume('k', { cost: 10 });
      await limiter.reset('k');
      await limiter.reset('k');
      expect(await limiter.peek('k')).toMatchObject({ remaining: 10, resetAfter: 0 });
      expect(await limiter.consume('k', { cost: 10 })).toMatchObject({ allowed: true });
    });

    test('applies a changed policy to the stored state', async () => {
      const limiter = harness.limiter(policyOf('1h'));
      await limiter.consume('k', { cost: 10 });
      await limiter.close();
      const changed = harness.limiter(policyOf('2h'), { name: limiter.name });
      expect(await changed.consume('k', { cost: 10 })).toMatchObject({ allowed: false });
    });
  });

  test.each(ratesOf(kind))(
    '%s: a retry passes at retryAfter, and 1 ms earlier it is denied',
    async (_, policyOf) => {
      const limiter = harness.limiter(policyOf('1h'));
      await limiter.consume('k', { cost: 6 });
      await harness.clock.advance('7m');
      await limiter.consume('k', { cost: 3 });
      const { allowed, retryAfter } = await limiter.consume('k', { cost: 9 });
      expect(allowed).toBe(false);
      await harness.clock.advance(retryAfter - 1);
      expect(await limiter.consume('k', { cost: 9 })).toMatchObject({ allowed: false, retryAfter: 1 });
      await harness.clock.advance(1);
      expect(await limiter.consume('k', { cost: 9 })).toMatchObject({ allowed: true });
    },
  );

  test('fixedWindow: a window by the clock ends at the full hour, other windows an hour after the first call', async () => {
    const byClock = harness.limiter(fixedWindow({ limit: 10, window: '1h', align: 'clock' }));
    const byHit = harness.limiter(fixedWindow({ limit: 10, window: '1h' }));
    await harness.clock.advance('20m');
    expect(await byClock.consume('k')).toMatchObject({ resetAfter: (HOUR * 2) / 3 });
    expect(await byHit.consume('k')).toMatchObject({ resetAfter: HOUR });
  });

  test('tokenBucket: batches add all tokens at the tick, otherwise tokens flow in steadily', async () => {
    const options = { capacity: 10, refill: 5, every: '1h' };
    const batches = harness.limiter(tokenBucket({ ...options, mode: 'interval' }));
    const steady = harness.limiter(tokenBucket(options));
    for (const limiter of [batches, steady]) await limiter.consume('k', { cost: 10 });
    await harness.clock.advance('36m');
    expect(await batches.peek('k')).toMatchObject({ allowed: false, remaining: 0, retryAfter: 0.4 * HOUR });
    expect(await steady.peek('k')).toMatchObject({ allowed: true, remaining: 3 });
    await harness.clock.advance('24m');
    for (const limiter of [batches, steady]) expect(await limiter.peek('k')).toMatchObject({ remaining: 5 });
  });

  test('moreAfter is the time to the next permit of a bucket, the next batch, or the end of a window', async () => {
    const hours = (policy: Parameters<typeof harness.limiter>[0]) =>
      harness
        .limiter(policy)
        .consume('k', { cost: 9 })
        .then(({ remaining, moreAfter, resetAfter }) => [
          remaining,
          ...[moreAfter, resetAfter].map((ms) => Math.round((ms / HOUR) * 100) / 100),
        ]);
    const bucket = { capacity: 10, refill: 2, every: '1h' } as const;
    expect(await hours(tokenBucket(bucket))).toEqual([1, 0.5, 4.5]);
    expect(await hours(tokenBucket({ ...bucket, mode: 'interval' }))).toEqual([1, 1, 5]);
    expect(await hours(fixedWindow({ limit: 10, window: '1h' }))).toEqual([1, 1, 1]);
  });

  test('tokenBucket: with borrow one permit lets a call take on debt, and new tokens pay the debt first', async () => {
    const limiter = harness.limiter(tokenBucket({ capacity: 5, refill: 5, every: '1h', borrow: 10 }));
    expect(await limiter.consume('k', { cost: 4 })).toMatchObject({ allowed: true, limit: 15 });
    expect(await limiter.consume('k', { cost: 8 })).toMatchObject({ allowed: true, remaining: 0 });
    expect(await limiter.consume('k')).toMatchObject({ allowed: false, retryAfter: (HOUR / 5) * 8 });
    expect(await limiter.consume('k', { cost: 16 })).toMatchObject({ allowed: false, retryAfter: NEVER });
    await harness.clock.advance((HOUR / 5) * 8);
    expect(await limiter.consume('k', { cost: 5 })).toMatchObject({ allowed: true });
  });

  test('tokenBucket: a new key has the initial tokens only', async () => {
    const limiter = harness.limiter(tokenBucket({ capacity: 10, refill: 10, every: '1h', initial: 2 }));
    expect(await limiter.peek('k')).toMatchObject({ remaining: 2 });
    expect(await limiter.consume('k', { cost: 3 })).toMatchObject({ allowed: false, retryAfter: HOUR / 10 });
    expect(await limiter.consume('k', { cost: 2 })).toMatchObject({ allowed: true, remaining: 0 });
  });
}
