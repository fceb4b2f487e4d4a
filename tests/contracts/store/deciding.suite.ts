import { fixedWindow, tokenBucket } from '../../../packages/core/src/index.js';
import { HOUR, policies, rates, StoreHarness, type StoreKind } from './harness.js';

const NEVER = Number.POSITIVE_INFINITY;

/** `consume`, `peek`, `reset`: what may go now. */
export function decidingContract(kind: StoreKind): void {
  const harness = new StoreHarness(kind);

  describe.each(Object.entries(policies))('%s decides', (_, policyOf) => {
    test('of 50 calls at once exactly 10 pass, and remaining counts down to 0', async () => {
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

    test('keys and limiters do not affect each other', async () => {
      const limiter = harness.limiter(policyOf('1h'));
      await limiter.consume('a', { cost: 10 });
      expect(await limiter.consume('b', { cost: 10 })).toMatchObject({ allowed: true });
      expect(await harness.limiter(policyOf('1h')).consume('a', { cost: 10 })).toMatchObject({
        allowed: true,
      });
    });

    test('a cost is taken whole or not at all; a cost above the limit never passes', async () => {
      const limiter = harness.limiter(policyOf('1h'));
      expect(await limiter.consume('k', { cost: 7 })).toMatchObject({ allowed: true, remaining: 3 });
      expect(await limiter.consume('k', { cost: 4 })).toMatchObject({ allowed: false, remaining: 3 });
      expect(await limiter.consume('k', { cost: 11 })).toMatchObject({ allowed: false, retryAfter: NEVER });
      expect(await limiter.consume('k', { cost: 3 })).toMatchObject({ allowed: true, remaining: 0 });
    });

    test('a cost of 0 and a peek take nothing', async () => {
      const limiter = harness.limiter(policyOf('1h'));
      expect(await limiter.consume('k', { cost: 0 })).toMatchObject({ allowed: true, remaining: 10 });
      expect(await limiter.peek('k', { cost: 5 })).toMatchObject({ allowed: true, remaining: 10 });
      expect(await limiter.consume('k')).toMatchObject({ remaining: 9 });
      expect(await limiter.peek('k', { cost: 10 })).toMatchObject({ allowed: false, remaining: 9 });
    });

    test('limit and window are those of the policy, and after resetAfter all permits are back', async () => {
      const limiter = harness.limiter(policyOf('1h'));
      const unused = { limit: 10, window: HOUR, remaining: 10, resetAfter: 0, source: harness.store.name };
      expect(await limiter.peek('k')).toMatchObject(unused);
      const { resetAfter } = await limiter.consume('k', { cost: 4 });
      expect(resetAfter).toBeGreaterThan(0);
      await harness.clock.advance(resetAfter - 1);
      await harness.heard(limiter);
      if (policyOf !== policies.concurrency) {
        expect((await limiter.peek('k')).remaining).toBeLessThan(10);
        await harness.clock.advance(1);
        expect(await limiter.peek('k')).toMatchObject(unused);
      }
    });

    test('reset returns all permits, also the second time', async () => {
      const limiter = harness.limiter(policyOf('1h'));
      await limiter.consume('k', { cost: 10 });
      await limiter.reset('k');
      await limiter.reset('k');
      expect(await limiter.peek('k')).toMatchObject({ remaining: 10, resetAfter: 0 });
      expect(await limiter.consume('k', { cost: 10 })).toMatchObject({ allowed: true });
    });

    test('a changed limit applies to the same state', async () => {
      const limiter = harness.limiter(policyOf('1h'));
      await limiter.consume('k', { cost: 10 });
      await limiter.close();
      const changed = harness.limiter(policyOf('2h'), { name: limiter.name });
      expect(await changed.consume('k', { cost: 10 })).toMatchObject({ allowed: false });
    });
  });

  test.each(Object.entries(rates))(
    '%s: a retry passes at retryAfter and not 1 ms before',
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

  test('fixedWindow by the clock: windows end at the full hour, those from the first hit an hour after it', async () => {
    const byClock = harness.limiter(fixedWindow({ limit: 10, window: '1h', align: 'clock' }));
    const byHit = harness.limiter(fixedWindow({ limit: 10, window: '1h' }));
    await harness.clock.advance('20m');
    expect(await byClock.consume('k')).toMatchObject({ resetAfter: (HOUR * 2) / 3 });
    expect(await byHit.consume('k')).toMatchObject({ resetAfter: HOUR });
  });

  test('tokenBucket: in batches all tokens come at the tick, otherwise steadily', async () => {
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

  test('moreAfter is the next permit of a bucket, the next batch, the end of a window', async () => {
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

  test('tokenBucket with borrowing: one permit lets a call go into debt, and the debt is paid first', async () => {
    const limiter = harness.limiter(tokenBucket({ capacity: 5, refill: 5, every: '1h', borrow: 10 }));
    expect(await limiter.consume('k', { cost: 4 })).toMatchObject({ allowed: true, limit: 15 });
    expect(await limiter.consume('k', { cost: 8 })).toMatchObject({ allowed: true, remaining: 0 });
    expect(await limiter.consume('k')).toMatchObject({ allowed: false, retryAfter: (HOUR / 5) * 8 });
    expect(await limiter.consume('k', { cost: 16 })).toMatchObject({ allowed: false, retryAfter: NEVER });
    await harness.clock.advance((HOUR / 5) * 8);
    expect(await limiter.consume('k', { cost: 5 })).toMatchObject({ allowed: true });
  });

  test('tokenBucket that begins with fewer tokens: a new key has only those', async () => {
    const limiter = harness.limiter(tokenBucket({ capacity: 10, refill: 10, every: '1h', initial: 2 }));
    expect(await limiter.peek('k')).toMatchObject({ remaining: 2 });
    expect(await limiter.consume('k', { cost: 3 })).toMatchObject({ allowed: false, retryAfter: HOUR / 10 });
    expect(await limiter.consume('k', { cost: 2 })).toMatchObject({ allowed: true, remaining: 0 });
  });
}
