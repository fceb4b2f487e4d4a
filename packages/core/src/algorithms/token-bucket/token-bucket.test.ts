import fc from 'fast-check';
import { ms, START, seconds, Timeline } from '../../../../../tests/support/timeline.js';
import { NEVER } from '../algorithm.js';
import { tokenBucket } from './token-bucket.js';
import { tokenBucketOfRate } from './token-bucket-of-rate.js';

const line = (capacity: number, refill: number, every: string) =>
  new Timeline(tokenBucket({ capacity, refill, every }));

describe('tokenBucket', () => {
  test('the starter: a rate of 1/5 with 5 s of burst lets one call through each 5 s', () => {
    const key = new Timeline(tokenBucketOfRate({ rate: 1 / 5, burst: 5 }));
    expect(key.ask(0)).toMatchObject({ allowed: true, remaining: 0, reset: seconds(5) });
    expect(key.ask(seconds(2))).toMatchObject({ allowed: false, wait: seconds(3) });
    expect(key.consume(seconds(5) - 1)).toBe(false);
    expect(key.consume(seconds(5))).toBe(true);
  });

  test('a burst of the whole bucket, then the steady rate', () => {
    const key = line(3, 2, '1s');
    expect([0, 0, 0, 0].map((at) => key.consume(at))).toEqual([true, true, true, false]);
    expect(key.ask(ms(499))).toMatchObject({ allowed: false, remaining: 0, wait: ms(1) });
    expect(key.ask(ms(500))).toMatchObject({ allowed: true, remaining: 0, reset: ms(1500) });
    expect(key.ask(ms(1999), { operation: 'peek' })).toMatchObject({ allowed: true, remaining: 2 });
    expect(key.ask(ms(2000), { cost: 3 })).toMatchObject({ allowed: true, remaining: 0 });
  });

  test('10 a second asked every 50 ms gives each second call: no refill is lost to rounding', () => {
    const key = line(1, 10, '1s');
    const admitted = Array.from({ length: 1010 }, (_, i) => key.consume(i * ms(50))).filter(Boolean).length;
    expect(admitted).toBe(505);
  });

  test('3 a second is exact: bookings come due after a third of a second, two thirds, a whole one', () => {
    const key = line(1, 3, '1s');
    expect([1, 2, 3, 4].map(() => key.book(0).wait)).toEqual([0, 333_334, 666_667, 1_000_000]);
    expect(key.consume(1_333_333)).toBe(false);
    expect(key.consume(1_333_334)).toBe(true);
  });

  test('a cost above the capacity can never pass', () => {
    expect(line(5, 1, '1s').ask(0, { cost: 6, maxWait: seconds(99) })).toMatchObject({
      allowed: false,
      wait: NEVER,
    });
  });

  test('bookings come due one interval apart, and a timeout too short books nothing', () => {
    const key = line(1, 1, '1s');
    expect([0, 1, 2, 3].map((at) => key.book(at).wait)).toEqual([
      0,
      seconds(1) - 1,
      seconds(2) - 2,
      seconds(3) - 3,
    ]);
    expect(key.book(4, 1, seconds(3)).allowed).toBe(false);
    expect(key.book(4, 1, seconds(4) - 4)).toMatchObject({
      allowed: true,
      wait: seconds(4) - 4,
      remaining: 0,
    });
    expect(key.ask(5)).toMatchObject({ allowed: false, wait: seconds(5) - 5 });
  });

  test('an abort returns the last booking whole, and never lets two go in one place', () => {
    const key = line(1, 1, '1s');
    key.consume(0);
    const first = key.book(0);
    const second = key.book(0);
    expect([first.wait, second.wait]).toEqual([seconds(1), seconds(2)]);
    // The first gives up: the second keeps its moment, so a newcomer comes after it.
    key.ask(1, { operation: 'refund', at: START + seconds(1) });
    expect(key.book(1).wait).toBe(seconds(3) - 1);
    // The last gives up: a newcomer gets its place.
    key.ask(2, { operation: 'refund', at: START + seconds(3) });
    expect(key.book(2).wait).toBe(seconds(3) - 2);
  });

  test('a refund never makes a bucket more than full, nor a key', () => {
    const key = line(2, 1, '1s');
    key.ask(0, { operation: 'refund', cost: 9, at: START });
    expect(key.state).toBeUndefined();
    key.consume(0);
    expect(key.ask(1, { operation: 'refund', cost: 9, at: START })).toMatchObject({
      remaining: 2,
      state: undefined,
    });
  });

  test('a clock that goes back an hour locks out for one fill at most, however often it is asked meanwhile', () => {
    const key = line(2, 1, '5s');
    key.consume(seconds(3600), 2);
    for (let at = 0; at < 5; at += 1) expect(key.consume(seconds(at))).toBe(false);
    expect(key.consume(seconds(5))).toBe(true);

    const booked = line(1, 1, '5s');
    for (const wait of [0, 5, 10]) expect(booked.book(seconds(3600)).wait).toBe(seconds(wait));
    expect(booked.ask(0)).toMatchObject({ allowed: false, wait: seconds(15) });
    expect(booked.consume(seconds(15))).toBe(true);
  });

  test('a clock that goes forward an hour gives one full bucket, not more', () => {
    const key = line(5, 1, '1s');
    key.consume(0, 5);
    expect(key.ask(seconds(3600))).toMatchObject({ allowed: true, remaining: 4 });
  });

  test.each([
    [{ rate: 1 / 60, burst: 60 }, 1, 60_000],
    [{ rate: 1 / 49, burst: 49 }, 1, 49_000],
    [{ rate: 2.5, burst: 4 }, 10, 4_000],
    [{ rate: 1 / 3, burst: 9 }, 3, 9_000],
    [{ rate: 0.1, burst: 1 }, 1, 10_000],
    [{ rate: 1000, burst: 1 }, 1000, 1_000],
  ])('a rate as a double, %j, is the fraction that was meant', (options, limit, fill) => {
    const { rule } = new Timeline(tokenBucketOfRate(options));
    expect([rule.limit, rule.window]).toEqual([limit, fill * 1000]);
  });

  test('never above capacity + rate × time, never short by more than a permit, at any rate', () => {
    const policy = fc.record({
      capacity: fc.integer({ min: 1, max: 50 }),
      refill: fc.integer({ min: 1, max: 5000 }),
      every: fc.integer({ min: 1, max: 5_000 }),
    });
    fc.assert(
      fc.property(
        policy,
        fc.array(fc.tuple(fc.nat(3_000_000), fc.integer({ min: 1, max: 3 })), { maxLength: 200 }),
        (p, calls) => {
          const key = new Timeline(tokenBucket(p));
          let now = 0;
          // A bucket in exact rational arithmetic: permits × every, as a BigInt of µs.
          const full = BigInt(p.capacity) * BigInt(p.every * 1000);
          let exact = full;
          for (const [step, cost] of calls) {
            now += step;
            exact += BigInt(step) * BigInt(p.refill);
            if (exact > full) exact = full;
            const price = BigInt(Math.min(cost, p.capacity)) * BigInt(p.every * 1000);
            const allowed = key.consume(now, Math.min(cost, p.capacity));
            expect(allowed).toBe(exact >= price);
            if (allowed) exact -= price;
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  test.each([
    [{ capacity: 0, refill: 1, every: '1s' }, /capacity must be a number of permits ≥ 1, not 0/],
    [{ capacity: Number.NaN, refill: 1, every: '1s' }, /not NaN/],
    [{ capacity: 5, refill: 0, every: '1s' }, /refill must be a whole number from 1/],
    [{ capacity: 5, refill: 0.5, every: '1s' }, /refill must be a whole number .* not 0.5/],
    [{ capacity: 5, refill: 1, every: '1 s' }, /every must be a duration/],
    [{ capacity: 5, refill: 1, every: '1s', burst: 5 }, /no option 'burst'/],
    [{ capacity: 1e15, refill: 1, every: '1d' }, /beyond exact numbers/],
    [{ capacity: 1e6, refill: 1, every: '1d' }, /3650 days to fill/],
  ])('refuses %j', (options, message) => {
    expect(() => tokenBucket(options as never)).toThrow(message);
  });

  test.each([
    { rate: 0, burst: 1 },
    { rate: 1, burst: -1 },
    { rate: Number.NaN, burst: 1 },
    { rate: '1', burst: 1 },
  ])('refuses a rate of %j', (options) => {
    expect(() => tokenBucketOfRate(options as never)).toThrow(RangeError);
  });
});
