import { fixedWindow, gcra, leakyBucket, tokenBucket } from '../../../packages/core/src/index.js';
import { HOUR, policies, policiesOf, rates, StoreHarness, type StoreKind, startWait } from './harness.js';

/** Several policies of one limiter: all or nothing. */
export function severalPoliciesContract(kind: StoreKind): void {
  const harness = new StoreHarness(kind);
  const narrow = fixedWindow({ limit: 3, window: '1h' });

  describe.each(policiesOf(kind))('%s with another policy', (_, policyOf) => {
    const limiterOf = (order = ['wide', 'narrow']) => {
      const both: Record<string, typeof narrow> = { wide: policyOf('1h') as typeof narrow, narrow };
      return harness.limiter(Object.fromEntries(order.map((each) => [each, both[each]!])));
    };

    test.each([[['wide', 'narrow']], [['narrow', 'wide']]])(
      'a denial by one takes nothing from the other, in the order %j',
      async (order) => {
        const limiter = limiterOf(order);
        for (let calls = 0; calls < 3; calls += 1) expect((await limiter.consume('k')).allowed).toBe(true);
        const denied = await limiter.consume('k');
        expect(denied).toMatchObject({
          allowed: false,
          policy: 'narrow',
          limit: 3,
          remaining: 0,
          retryAfter: HOUR,
        });
        const byName = Object.fromEntries(denied.policies.map((policy) => [policy.name, policy]));
        expect(Object.keys(byName)).toEqual(order);
        expect(byName.wide).toMatchObject({ limit: 10, remaining: 7, retryAfter: 0 });
        expect(byName.narrow).toMatchObject({ remaining: 0, retryAfter: HOUR });

        expect(await limiter.consume('k', { cost: { narrow: 0, wide: 5 } })).toMatchObject({ allowed: true });
        const other = await limiterOf(order).consume('k', { cost: { narrow: 2, wide: 11 } });
        expect(other).toMatchObject({ allowed: false, policy: 'wide', retryAfter: Number.POSITIVE_INFINITY });
        expect(other.policies.find((policy) => policy.name === 'narrow')).toMatchObject({
          remaining: 3,
          cost: 2,
        });
      },
    );

    test('a refund and a reset apply to all policies', async () => {
      const limiter = limiterOf();
      const decision = await limiter.consume('k', { cost: 3 });
      expect(decision).toMatchObject({ policy: 'narrow', remaining: 0 });
      await limiter.refund(decision);
      await limiter.refund(decision);
      expect((await limiter.peek('k')).policies).toMatchObject([{ remaining: 10 }, { remaining: 3 }]);
      await limiter.consume('k', { cost: 3 });
      await limiter.reset('k');
      expect((await limiter.peek('k')).policies).toMatchObject([{ remaining: 10 }, { remaining: 3 }]);
    });

    test('acquire waits until all policies have the permits, and an abort refunds all', async () => {
      const limiter = limiterOf();
      const first = await limiter.consume('k', { cost: 3 });
      const before = await limiter.peek('k');
      await startWaitAndAbort();
      expect({ ...(await limiter.peek('k')) }).toEqual({ ...before });
      const waiting = startWait(limiter, 'k', 2);
      await harness.answered(limiter);
      await harness.clock.advance('1h');
      expect(await waiting.acquired).toMatchObject({ waited: HOUR });
      await limiter.release(first);

      async function startWaitAndAbort() {
        const called = startWait(limiter, 'k', 2);
        await harness.answered(limiter);
        await called.abort();
      }
    });
  });

  test('policies of all algorithms make one decision', async () => {
    const all = Object.fromEntries(
      Object.entries(policies).map(([name, policyOf]) => [name.replaceAll(' ', '-'), policyOf('1h')]),
    );
    const limiter = harness.limiter(all);
    expect(await limiter.consume('k', { cost: 10 })).toMatchObject({ allowed: true, remaining: 0 });
    const denied = await limiter.consume('k', { cost: 10 });
    expect(denied).toMatchObject({ allowed: false, policy: 'slidingWindow' });
    expect(denied.policies.map(({ name }) => name)).toEqual(Object.keys(all));
    expect(denied.retryAfter).toBe(Math.max(...denied.policies.map(({ retryAfter }) => retryAfter)));
  });

  test('with all rates a retry passes at retryAfter, and 1 ms earlier it is denied', async () => {
    const all = Object.fromEntries(
      Object.entries(rates).map(([name, policyOf]) => [name.replaceAll(' ', '-'), policyOf('1h')]),
    );
    const limiter = harness.limiter(all);
    await limiter.consume('k', { cost: 4 });
    await harness.clock.advance('17m');
    await limiter.consume('k', { cost: 5 });
    const { retryAfter } = await limiter.consume('k', { cost: 7 });
    await harness.clock.advance(retryAfter - 1);
    expect(await limiter.consume('k', { cost: 7 })).toMatchObject({ allowed: false, retryAfter: 1 });
    await harness.clock.advance(1);
    expect(await limiter.consume('k', { cost: 7 })).toMatchObject({ allowed: true });
  });

  test('reserve and settle take costs by the names of the policies', async () => {
    const limiter = harness.limiter({
      calls: fixedWindow({ limit: 3, window: '1h' }),
      tokens: tokenBucket({ capacity: 1000, refill: 1000, every: '1h' }),
    });
    const reservation = await limiter.reserve('k', { tokens: 400 });
    await reservation.settle({ tokens: 650 });
    expect((await limiter.peek('k')).policies).toMatchObject([{ remaining: 2 }, { remaining: 350 }]);
    const other = await limiter.reserve('k', { tokens: 300 });
    await other.settle({ tokens: 20, calls: 0 });
    expect((await limiter.peek('k')).policies).toMatchObject([{ remaining: 2 }, { remaining: 330 }]);
    await expect(limiter.reserve('k', { tokes: 5 })).rejects.toThrow("no option 'tokes'");
    await expect(limiter.consume('k', { cost: { tokens: -1 } })).rejects.toThrow(RangeError);
    expect((await limiter.peek('k')).policies).toMatchObject([{ remaining: 2 }, { remaining: 330 }]);
  });

  test('penalty, reward and block apply to all policies', async () => {
    const limiter = harness.limiter({
      a: gcra({ limit: 10, period: '1h' }),
      b: leakyBucket({ capacity: 5, leak: 5, every: '1h' }),
    });
    await limiter.penalty('k', 3);
    expect((await limiter.peek('k')).policies).toMatchObject([{ remaining: 7 }, { remaining: 2 }]);
    await limiter.reward('k', 2);
    expect((await limiter.peek('k')).policies).toMatchObject([{ remaining: 9 }, { remaining: 4 }]);
    await limiter.block('k', '5m');
    expect(await limiter.consume('k')).toMatchObject({ allowed: false, retryAfter: 300_000, policy: 'a' });
    await limiter.unblock('k');
    expect(await limiter.consume('k')).toMatchObject({ allowed: true });
  });
}
