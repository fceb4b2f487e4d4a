import { isRateLimitExceededError } from '../../packages/core/src/index.js';
import { Bench, HOUR, rates, rejection, type StoreKind } from './store-setup.js';

/** `reserve`, then `settle` or `cancel`. */
export function reservingContract(kind: StoreKind): void {
  const bench = new Bench(kind);

  describe.each(Object.entries(rates))('%s reserves', (name, policyOf) => {
    const limiterOf = () => bench.limiter(policyOf('1h'));

    test.each([
      ['less', 2, 8],
      ['as much', 6, 4],
      ['more', 9, 1],
      ['nothing', 0, 10],
      ['more than is left', 15, 0],
    ])('settled with %s, it takes what was used', async (_, actual, remaining) => {
      const limiter = limiterOf();
      const reservation = await limiter.reserve('k', 6);
      expect(reservation.decision).toMatchObject({ allowed: true, remaining: 4, cost: 6 });
      await bench.clock.advance(1);
      await reservation.settle(actual);
      expect(await limiter.peek('k')).toMatchObject({ remaining });
      await expect(reservation.settle(actual)).rejects.toThrow(TypeError);
      await reservation.cancel();
      expect(await limiter.peek('k')).toMatchObject({ remaining });
    });

    test('an estimate of nothing is settled too', async () => {
      const limiter = limiterOf();
      await (await limiter.reserve('k', 0)).settle(3);
      expect(await limiter.peek('k')).toMatchObject({ remaining: 7 });
    });

    test('cancelled, it takes nothing, once', async () => {
      const limiter = limiterOf();
      const reservation = await limiter.reserve('k', 6);
      await limiter.consume('k', { cost: 2 });
      await reservation.cancel();
      await reservation.cancel();
      expect(await limiter.peek('k')).toMatchObject({ remaining: 8 });
      await expect(reservation.settle(1)).rejects.toThrow(TypeError);
    });

    test('settled late, it gives back nothing that came back by itself, and takes what it used more', async () => {
      const limiter = limiterOf();
      const less = await limiter.reserve('less', 5);
      const more = await limiter.reserve('more', 5);
      await bench.clock.advance('2h');
      await limiter.consume('less', { cost: 4 });
      await less.settle(1);
      expect(await limiter.peek('less')).toMatchObject({ remaining: 6 });
      await more.settle(8);
      expect(await limiter.peek('more')).toMatchObject({ remaining: 7 });
    });

    test('what is not there is refused at once, or waited for when told so', async () => {
      const limiter = limiterOf();
      // A leaky bucket lets in to wait what it has room for.
      const [taken, more, cost] = name === 'leakyBucket' ? [9, 2, 1] : [10, 10, 10];
      await limiter.consume('k', { cost: taken });
      for (const options of [{}, { timeout: undefined }, { timeout: 0 }]) {
        const error = await rejection(limiter.reserve('k', more, options as never));
        expect(isRateLimitExceededError(error)).toBe(true);
      }
      const waiting = limiter.reserve('k', cost, { timeout: '2h' });
      await bench.heard(limiter);
      await bench.clock.advance(1.1 * HOUR);
      const reservation = await waiting;
      expect(reservation.decision.waited).toBeGreaterThan(0);
      await reservation.cancel();
    });

    test('a wrong actual cost settles nothing', async () => {
      const reservation = await limiterOf().reserve('k', 6);
      for (const wrong of [-1, 1.5, Number.NaN])
        await expect(reservation.settle(wrong)).rejects.toThrow(RangeError);
      await reservation.settle(6);
    });
  });
}
