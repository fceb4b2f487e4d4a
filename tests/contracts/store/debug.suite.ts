import { CombinedLimiter, fixedWindow, RateLimiter } from '../../../packages/core/src/index.js';
import { HOUR, policies, policiesOf, ratesOf, StoreHarness, type StoreKind, startWait } from './harness.js';

const HOUR_MICROS = HOUR * 1000;

/** The debug view of a decision is the same in every store. */
export function debugContract(kind: StoreKind): void {
  const harness = new StoreHarness(kind);

  test.each(policiesOf(kind))(
    '%s: shows the state before and after, the clock and the parameters',
    async (_, policyOf) => {
      const limiter = harness.limiter(policyOf('1h'));
      const decision = await limiter.consume('k', { cost: 3, debug: true });
      expect(decision).toMatchObject({ allowed: true, remaining: 7, retryAfter: 0 });
      const {
        now,
        policies: [first],
      } = decision.debug!;
      expect(now).toBe(harness.clock.now());
      expect(first).toMatchObject({
        name: limiter.name,
        key: expect.stringMatching(new RegExp(`:${limiter.name}:{k}$`)),
        overridden: false,
        before: { state: [], remaining: 10, resetAfter: 0 },
        after: { state: expect.any(Array), remaining: 7 },
        booked: [],
        blockedUntil: 0,
      });
      expect(first!.after.state.length).toBeGreaterThan(1);

      const peeked = await limiter.peek('k', { debug: true });
      expect(peeked.debug!.policies[0]).toEqual({ ...first, before: first!.after });
      const denied = await limiter.consume('k', { cost: 8, debug: true });
      expect(denied).toMatchObject({ allowed: false, remaining: 7 });
      expect(denied.debug!.policies[0]).toEqual({ ...first, before: first!.after });
      // Such a call takes permits as usual, and they can be given back.
      await limiter.release(decision);
      await limiter.refund(decision);
      expect(await limiter.peek('k')).toMatchObject({ remaining: 10 });
    },
  );

  test.each(policiesOf(kind))('%s: has no debug view without the option', async (_, policyOf) => {
    const limiter = harness.limiter(policyOf('1h'));
    for (const decision of [
      await limiter.consume('k'),
      await limiter.consume('k', { debug: false }),
      await limiter.peek('k'),
      await limiter.acquire('other'),
    ]) {
      expect('debug' in decision).toBe(false);
    }
    await expect(limiter.consume('k', { debug: 'yes' as never })).rejects.toThrow(TypeError);
    await expect(limiter.acquire('k', { debug: true } as never)).rejects.toThrow("no option 'debug'");
  });

  test('the parameters have names, also during an override', async () => {
    const limiter = harness.limiter(fixedWindow({ limit: 5, window: '1h' }));
    const numbers = async () => (await limiter.peek('k', { debug: true })).debug!.policies[0];
    expect(await numbers()).toMatchObject({ numbers: { limit: 5, window: HOUR_MICROS }, overridden: false });
    await limiter.override('k', fixedWindow({ limit: 9, window: '2h' }), { expiresIn: '1h' });
    expect(await numbers()).toMatchObject({
      numbers: { limit: 9, window: 2 * HOUR_MICROS },
      overridden: true,
    });
  });

  test.each(ratesOf(kind))('%s: shows a block and the bookings', async (_, policyOf) => {
    const limiter = harness.limiter(policyOf('1h'));
    await limiter.block('k', '2h');
    const until = harness.clock.now() + 2 * HOUR_MICROS;
    const waiting = startWait(limiter, 'k', 4);
    await harness.answered(limiter);
    const { debug } = await limiter.consume('k', { debug: true });
    expect(debug!.policies[0]).toMatchObject({ blockedUntil: until, booked: [{ at: until, cost: 4 }] });
    await harness.clock.advance('2h');
    await waiting.acquired;
  });

  test('shows every policy of a combination', async () => {
    const perUser = harness.limiter(policies.gcra!('1h'));
    const all = harness.limiter({ minute: policies.slidingLog!('1m'), day: policies.fixedWindow!('24h') });
    const both = new CombinedLimiter({ perUser, all });
    const { debug } = await both.consume({ perUser: 'ada', all: 'k' }, { debug: true });
    expect(debug!.policies.map(({ after }) => after.remaining)).toEqual([9, 9, 9]);
    await both.close();
  });

  test('a debug call reaches the store even if a denial is cached', async () => {
    const store = harness.another();
    const name = `${harness.limiter(policies.gcra!('1h')).name}-denied`;
    const policy = policies.gcra!('1h', 1);
    const limiter = new RateLimiter({ name, policy, store, denyCache: '1s', deadline: '10s' });
    await limiter.consume('k');
    await limiter.consume('k');
    const denied = await limiter.consume('k', { debug: true });
    expect(denied).toMatchObject({ allowed: false, source: store.name });
    expect(denied.debug!.policies[0]).toMatchObject({ before: { remaining: 0 } });
    await limiter.close();
  });
}
