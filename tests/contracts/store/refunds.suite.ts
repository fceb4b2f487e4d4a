import { concurrency } from '../../../packages/core/src/index.js';
import {
  HOUR,
  nextWait,
  rates,
  ratesOf,
  StoreHarness,
  type StoreKind,
  spaced,
  startWait,
} from './harness.js';

/** `refund`, `penalty` and `reward`: what was taken comes back, or more is taken. */
export function refundContract(kind: StoreKind): void {
  const harness = new StoreHarness(kind);

  describe.each(ratesOf(kind))('a refund, %s', (name, policyOf) => {
    const limiterOf = () => harness.limiter(policyOf('1h'));

    test('returns the permits of a decision, once', async () => {
      const limiter = limiterOf();
      const first = await limiter.consume('k', { cost: 4 });
      await harness.clock.advance(1);
      await limiter.consume('k', { cost: 6 });
      await limiter.refund(first);
      expect(await limiter.peek('k')).toMatchObject({ remaining: 4 });
      await limiter.refund(first);
      expect(await limiter.peek('k')).toMatchObject({ remaining: 4 });
    });

    test('returns nothing for a denial, a cost of 0 or a peek', async () => {
      const limiter = limiterOf();
      await limiter.consume('k', { cost: 10 });
      await limiter.refund(await limiter.consume('k'));
      await limiter.refund(await limiter.peek('k', { cost: 0 }));
      await limiter.refund(await limiter.consume('k', { cost: 0 }));
      expect(await limiter.peek('k')).toMatchObject({ remaining: 0 });
    });

    test('returns no permits that are back already: never more than the limit, never into the next window', async () => {
      const limiter = limiterOf();
      const old = await limiter.consume('k', { cost: 10 });
      const older = await limiter.consume('other', { cost: 10 });
      await harness.clock.advance('2h');
      await limiter.consume('k', { cost: 4 });
      await limiter.refund(old);
      expect(await limiter.peek('k')).toMatchObject({ remaining: 6 });
      await limiter.refund(older);
      expect(await limiter.peek('other')).toMatchObject({ remaining: 10, resetAfter: 0 });
      expect(await limiter.consume('other', { cost: 11 })).toMatchObject({ allowed: false });
      expect(await limiter.consume('other', { cost: 10 })).toMatchObject({ allowed: true, remaining: 0 });
    });

    test('returns nothing after a reset', async () => {
      const limiter = limiterOf();
      const taken = await limiter.consume('k', { cost: 4 });
      await limiter.reset('k');
      await limiter.consume('k', { cost: 3 });
      await harness.clock.advance(1);
      await limiter.refund(taken);
      expect((await limiter.peek('k')).remaining).toBeLessThanOrEqual(10);
      await limiter.refund(taken);
      expect(await limiter.peek('k', { cost: 11 })).toMatchObject({ allowed: false });
    });

    test('returns the permits of an acquire that waited', async () => {
      const limiter = limiterOf();
      await limiter.acquire('k', { cost: spaced.has(name) ? 1 : 10 });
      const wait = startWait(limiter, 'k', 1);
      await harness.answered(limiter);
      await harness.clock.advance('1h6m');
      const before = (await limiter.peek('k')).remaining;
      await limiter.refund(await wait.acquired);
      const after = (await limiter.peek('k')).remaining;
      expect([before + 1, 10]).toContain(after);
    });

    test('lets the next call pass at once, also when another call waits for a later moment', async () => {
      const limiter = limiterOf();
      const [fill, cost] = spaced.has(name) ? [1, 1] : [10, 5];
      const first = await limiter.acquire('k', { cost: fill });
      const wait = await nextWait(limiter, 'k', cost);
      const waiting = startWait(limiter, 'k', cost);
      await harness.answered(limiter);
      await limiter.refund(first);
      expect(await limiter.consume('k', { cost })).toMatchObject({ allowed: true });
      await harness.clock.advance(wait);
      expect(await waiting.acquired).toMatchObject({ waited: wait });
    });

    test('a penalty also takes missing permits, and a reward returns the latest, never more than the limit', async () => {
      const limiter = limiterOf();
      await limiter.reward('k', 5);
      expect(await limiter.peek('k')).toMatchObject({ remaining: 10, resetAfter: 0 });
      await limiter.penalty('k', 3);
      expect(await limiter.peek('k')).toMatchObject({ remaining: 7 });
      await limiter.penalty('k', 20);
      const denied = await limiter.consume('k');
      expect(denied).toMatchObject({ allowed: false, remaining: 0 });
      expect(denied.retryAfter).toBeGreaterThan(HOUR / 10);
      await limiter.reward('k', 20);
      expect(await limiter.peek('k')).toMatchObject({ remaining: 7 });
      await limiter.reward('k');
      expect(await limiter.peek('k')).toMatchObject({ remaining: 8 });
      await limiter.reward('k', 1000);
      expect(await limiter.peek('k')).toMatchObject({ remaining: 10, resetAfter: 0 });
    });

    test('a penalty does not move waiting calls', async () => {
      const limiter = limiterOf();
      await limiter.acquire('k', { cost: spaced.has(name) ? 1 : 10 });
      const wait = await nextWait(limiter, 'k', 1);
      const waiting = startWait(limiter, 'k', 1);
      await harness.answered(limiter);
      await limiter.penalty('k', 5);
      await harness.clock.advance(wait);
      expect(await waiting.acquired).toMatchObject({ waited: wait });
    });
  });

  test('refund and release reject a copy of a decision, and any other value', async () => {
    const limiter = harness.limiter(rates.gcra!('1h'));
    const decision = await limiter.consume('k');
    for (const unknown of [{ ...decision }, {}, null, undefined, 'k', JSON.parse(JSON.stringify(decision))]) {
      await expect(limiter.refund(unknown as never)).rejects.toThrow(TypeError);
      await expect(limiter.release(unknown as never)).rejects.toThrow(/takes a decision of limiter/);
    }
    expect(await limiter.peek('k')).toMatchObject({ remaining: 9 });
  });

  test('penalty and reward reject fractions of permits, and limiters whose permits are held', async () => {
    const limiter = harness.limiter(rates.gcra!('1h'));
    for (const permits of [0, -1, 1.5, Number.NaN, '2']) {
      await expect(limiter.penalty('k', permits as never)).rejects.toThrow(RangeError);
      await expect(limiter.reward('k', permits as never)).rejects.toThrow(RangeError);
    }
    const held = harness.limiter(concurrency({ limit: 3 }));
    await expect(held.penalty('k')).rejects.toThrow(/held and not spent/);
    await expect(held.reward('k')).rejects.toThrow(TypeError);
  });
}
