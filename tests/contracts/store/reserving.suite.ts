import { isRateLimitExceededError } from '../../../packages/core/src/index.js';
import { HOUR, ratesOf, rejection, StoreHarness, type StoreKind, spaced } from './harness.js';

/** `reserve`, then `settle` or `cancel`. */
export function reservingContract(kind: StoreKind): void {
  const harness = new StoreHarness(kind);

  describe.each(ratesOf(kind))('a reservation, %s', (name, policyOf) => {
    const limiterOf = () => harness.limiter(policyOf('1h'));

    test.each([
      ['less', 2, 8],
      ['as much', 6, 4],
      ['more', 9, 1],
      ['nothing', 0, 10],
      ['more than is left', 15, 0],
    ])('settled with %s takes the actual cost', async (_, actual, remaining) => {
      const limiter = limiterOf();
      const reservation = await limiter.reserve('k', 6);
      expect(reservation.decision).toMatchObject({ allowed: true, remaining: 4, cost: 6 });
      await harness.clock.advance(1);
      await reservation.settle(actual);
      expect(await limiter.peek('k')).toMatchObject({ remaining });
      await expect(reservation.settle(actual)).rejects.toThrow(TypeError);
      await reservation.cancel();
      expect(await limiter.peek('k')).toMatchObject({ remaining });
    });

    test('of 0 permits can be settled', async () => {
      const limiter = limiterOf();
      await (await limiter.reserve('k', 0)).settle(3);
      expect(await limiter.peek('k')).toMatchObject({ remaining: 7 });
    });

    test('returns all permits when it is cancelled, once', async () => {
      const limiter = limiterOf();
      const reservation = await limiter.reserve('k', 6);
      await limiter.consume('k', { cost: 2 });
      await reservation.cancel();
      await reservation.cancel();
      expect(await limiter.peek('k')).toMatchObject({ remaining: 8 });
      await expect(reservation.settle(1)).rejects.toThrow(TypeError);
    });

    test('settled late refunds no permits that are back already, and takes the additional cost', async () => {
      const limiter = limiterOf();
      const less = await limiter.reserve('less', 5);
      const more = await limiter.reserve('more', 5);
      await harness.clock.advance('2h');
      await limiter.consume('less', { cost: 4 });
      await less.settle(1);
      expect(await limiter.peek('less')).toMatchObject({ remaining: 6 });
      await more.settle(8);
      expect(await limiter.peek('more')).toMatchObject({ remaining: 7 });
    });

    test('without enough permits rejects at once, and with a timeout waits', async () => {
      const limiter = limiterOf();
      // A leaky bucket lets in to wait what it has room for.
      const [taken, more, cost] = spaced.has(name) ? [9, 2, 1] : [10, 10, 10];
      await limiter.consume('k', { cost: taken });
      for (const options of [{}, { timeout: undefined }, { timeout: 0 }]) {
        const error = await rejection(limiter.reserve('k', more, options as never));
        expect(isRateLimitExceededError(error)).toBe(true);
      }
      const waiting = limiter.reserve('k', cost, { timeout: '2h' });
      await harness.answered(limiter);
      await harness.clock.advance(1.1 * HOUR);
      const reservation = await waiting;
      expect(reservation.decision.waited).toBeGreaterThan(0);
      await reservation.cancel();
    });

    test('rejects an invalid actual cost, and stays open', async () => {
      const reservation = await limiterOf().reserve('k', 6);
      for (const wrong of [-1, 1.5, Number.NaN])
        await expect(reservation.settle(wrong)).rejects.toThrow(RangeError);
      await reservation.settle(6);
    });
  });
}
