import { ms } from '../../../../../tests/support/timeline.js';
import { MAX_MICROS } from '../../duration.js';
import { ANY, NEVER, type Rule, type State } from '../algorithm.js';
import { meterAlgorithm } from './meter.js';
import {
  type TokenBucketOptions,
  type TokenBucketPolicy,
  tokenBucket,
  tokenBucketKind,
  tokenBucketOfRate,
} from './token-bucket.js';

const START = 1_735_689_600_000_000;
const seconds = (value: number) => Math.round(value * 1_000_000);
const DAY = seconds(86_400);

/** One key as a store keeps it, called at moments of the test's choosing (µs after START). */
class Key {
  rule: Rule;
  state: State | undefined;

  constructor(policy: TokenBucketPolicy) {
    this.rule = tokenBucketKind.compile(policy);
  }

  /** Takes `cost` permits if they are free, and returns the wait: 0 if they were. */
  consume(at: number, cost = 1): number {
    this.#open(at);
    const wait = meterAlgorithm.wait(this.rule.parameters, this.state, START + at, cost);
    if (wait === 0) this.charge(at, cost);
    return wait;
  }

  charge(at: number, cost: number): void {
    this.#open(at);
    this.state = meterAlgorithm.take(this.rule.parameters, this.state, START + at, cost);
  }

  refund(at: number, cost: number, taken: number): void {
    this.#open(at);
    if (this.state === undefined) return;
    const moment = taken === ANY ? ANY : START + taken;
    this.state = meterAlgorithm.refund(this.rule.parameters, this.state, START + at, cost, moment);
  }

  usage(at: number): [remaining: number, reset: number] {
    this.#open(at);
    const { remaining, reset } = meterAlgorithm.usage(this.rule.parameters, this.state, START + at);
    return [remaining, reset];
  }

  #open(at: number): void {
    const { state } = this;
    const { parameters } = this.rule;
    this.state =
      state !== undefined && state[0]! > START + at
        ? meterAlgorithm.normalize(parameters, state, START + at)
        : meterAlgorithm.initialState!(parameters, START + at);
  }
}

const bucket = (capacity: number, refill: number, every: string, more: Partial<TokenBucketOptions> = {}) =>
  new Key(tokenBucket({ capacity, refill, every, ...more }));

describe('a steady flow', () => {
  test('allows a burst of the whole bucket, then the steady rate', () => {
    const key = bucket(3, 2, '1s');
    expect([0, 0, 0, 0].map((at) => key.consume(at))).toEqual([0, 0, 0, ms(500)]);
    expect(key.usage(ms(499))).toEqual([0, ms(1001)]);
    expect(key.consume(ms(499))).toBe(ms(1));
    expect(key.consume(ms(500))).toBe(0);
    expect(key.usage(ms(1999))).toEqual([2, ms(1)]);
    expect(key.consume(ms(2000), 3)).toBe(0);
  });

  test('with a rate of 1/5 and 5 s of burst, one call passes each 5 s', () => {
    const key = new Key(tokenBucketOfRate({ rate: 1 / 5, burst: 5 }));
    expect(key.consume(0)).toBe(0);
    expect(key.usage(0)).toEqual([0, seconds(5)]);
    expect(key.consume(seconds(2))).toBe(seconds(3));
    expect(key.consume(seconds(5) - 1)).toBe(1);
    expect(key.consume(seconds(5))).toBe(0);
  });

  test('10 a second called every 50 ms allows every second call: no refill is lost to rounding', () => {
    const key = bucket(1, 10, '1s');
    expect(
      Array.from({ length: 1010 }, (_, i) => key.consume(i * ms(50))).filter((wait) => wait === 0),
    ).toHaveLength(505);
  });

  test('3 a second is exact: the remainder of 333,333⅓ µs is not lost', () => {
    const key = bucket(3, 3, '1s');
    key.consume(0, 3);
    expect(key.consume(0)).toBe(333_334);
    expect(key.consume(333_334)).toBe(0);
    expect(key.consume(333_334)).toBe(333_333);
    expect(key.consume(666_667)).toBe(0);
    expect(key.consume(666_667)).toBe(333_333);
    expect(key.consume(1_000_000)).toBe(0);
  });

  test('a cost above the capacity never passes, a cost of 0 always does', () => {
    const key = bucket(5, 1, '1s');
    expect(meterAlgorithm.wait(key.rule.parameters, undefined, START, 6)).toBe(NEVER);
    key.charge(0, 50);
    expect(meterAlgorithm.wait(key.rule.parameters, key.state, START, 0)).toBe(0);
  });

  test('half a permit of capacity lets the next call pass half an interval sooner', () => {
    const key = bucket(1.5, 1, '1s');
    expect([key.consume(0), key.consume(0), key.consume(ms(500))]).toEqual([0, ms(500), 0]);
  });

  test('the state holds three numbers, and expires when the bucket is full', () => {
    const key = bucket(2, 1, '1s');
    key.consume(0);
    expect(key.state).toEqual([START + seconds(1), START, START]);
    key.consume(ms(400));
    expect(key.state).toEqual([START + seconds(2), START + ms(400), START]);
    expect(key.usage(seconds(2))).toEqual([2, 0]);
    expect(key.state).toBeUndefined();
  });
});

describe("mode 'interval'", () => {
  test('the first tick is 10 s after a full bucket is used, the next one 10 s later', () => {
    const key = bucket(3, 2, '10s', { mode: 'interval' });
    expect([key.consume(seconds(4), 3), key.consume(seconds(4))]).toEqual([0, seconds(10)]);
    expect(key.usage(seconds(4))).toEqual([0, seconds(20)]);
    expect(key.consume(seconds(14) - 1)).toBe(1);
    expect([key.consume(seconds(14)), key.consume(seconds(15)), key.consume(seconds(16))]).toEqual([
      0,
      0,
      seconds(8),
    ]);
    expect(key.consume(seconds(16), 3)).toBe(seconds(18));
    expect(key.usage(seconds(24))).toEqual([2, seconds(10)]);
    // At 34 s it is whole: the ticks start again with the next call.
    expect([key.consume(seconds(40), 3), key.consume(seconds(49))]).toEqual([0, seconds(1)]);
  });

  test('1000 each 3 s admit at most 2000 in the 3 s around a tick', () => {
    const key = bucket(1000, 1000, '3s', { mode: 'interval' });
    const went = (at: number, calls: number) => {
      const [remaining] = key.usage(seconds(at));
      const cost = Math.min(calls, remaining);
      if (cost > 0) key.consume(seconds(at), cost);
      return cost;
    };
    expect([went(0, 10), went(1, 10), went(2, 980), went(3, 900), went(4, 200)]).toEqual([
      10, 10, 980, 900, 100,
    ]);
    expect(key.consume(seconds(4))).toBe(seconds(2));
  });

  test('a refund does not move the ticks', () => {
    const key = bucket(5, 1, '10s', { mode: 'interval' });
    key.consume(0, 5);
    key.refund(seconds(7), 3, 0);
    expect(key.usage(seconds(7))).toEqual([3, seconds(13)]);
    expect(key.usage(seconds(10))).toEqual([4, seconds(10)]);
  });
});

describe('borrow', () => {
  test('with one permit left, a call can borrow three more, and later calls wait', () => {
    const key = bucket(2, 1, '1s', { borrow: 3 });
    expect([key.consume(0), key.consume(0, 4)]).toEqual([0, 0]);
    expect(key.usage(0)).toEqual([0, seconds(5)]);
    expect(key.consume(0)).toBe(seconds(4));
    expect(key.consume(seconds(4) - 1, 4)).toBe(1);
    expect(key.consume(seconds(4), 4)).toBe(0);
  });

  test('the debt is bounded: a higher cost waits longer, a cost above capacity + borrow never passes', () => {
    const key = bucket(2, 1, '1s', { borrow: 3 });
    key.consume(0);
    expect([key.consume(0, 5), key.consume(0, 6)]).toEqual([seconds(1), NEVER]);
    expect(key.usage(0)).toEqual([4, seconds(1)]);
  });

  test("the debt is repaid in batches in mode 'interval'", () => {
    const key = bucket(2, 2, '10s', { mode: 'interval', borrow: 4 });
    expect([key.consume(0, 6), key.consume(seconds(1))]).toEqual([0, seconds(29)]);
  });
});

describe('initial', () => {
  test('an empty initial bucket fills from the first call of a key, even a denied one', () => {
    const key = bucket(2, 1, '1s', { initial: 0 });
    expect([key.consume(0), key.consume(ms(600)), key.consume(seconds(1))]).toEqual([seconds(1), ms(400), 0]);
    expect(key.usage(seconds(3))).toEqual([2, 0]);
  });

  test('a full bucket stays known for a day after its last use', () => {
    const key = bucket(2, 1, '1s', { initial: 1 });
    key.consume(0);
    expect(key.state?.[0]).toBe(START + DAY);
    expect(key.usage(DAY - 1)).toEqual([2, 0]);
    expect(key.usage(DAY)).toEqual([1, seconds(1)]);
  });

  test('a full bucket stays known for as long as it takes to fill, if that is longer', () => {
    const key = bucket(10, 1, '1d', { initial: 9 });
    key.consume(0);
    expect(key.usage(0)).toEqual([8, 2 * DAY]);
    expect(key.state?.[0]).toBe(START + 10 * DAY);
  });

  test("the initial bucket fills in batches in mode 'interval'", () => {
    const key = bucket(4, 2, '10s', { mode: 'interval', initial: 1 });
    expect([key.consume(0, 2), key.consume(seconds(10), 3), key.consume(seconds(10))]).toEqual([
      seconds(10),
      0,
      seconds(10),
    ]);
  });
});

describe('refunds', () => {
  test('a refund returns permits to the µs, and never more than are missing', () => {
    const key = bucket(3, 1, '1s');
    key.consume(0, 2);
    key.refund(ms(250), 1, 0);
    expect(key.usage(ms(250))).toEqual([2, ms(750)]);
    key.refund(ms(250), 9, 0);
    expect(key.state).toBeUndefined();
  });

  test('permits that have refilled are not refunded again', () => {
    const key = bucket(3, 1, '1s');
    key.consume(0);
    key.consume(seconds(1), 3);
    const before = key.state;
    key.refund(seconds(1), 1, 0);
    expect(key.state).toBe(before);
    key.refund(seconds(1), 1, ANY);
    expect(key.usage(seconds(1))).toEqual([1, seconds(2)]);
    key.refund(seconds(1), 1, seconds(1));
    expect(key.usage(seconds(1))).toEqual([2, seconds(1)]);
  });

  test('a key with fewer initial permits stays known after all permits are refunded', () => {
    const key = bucket(3, 1, '1s', { initial: 2 });
    key.consume(0, 2);
    key.refund(ms(500), 9, ANY);
    expect(key.usage(ms(500))).toEqual([3, 0]);
    key.consume(ms(500));
    key.refund(ms(500), 1, 0);
    expect(key.usage(ms(500))).toEqual([2, seconds(1)]);
  });
});

describe('penalties', () => {
  test('a debt beyond the bucket is repaid before any call passes', () => {
    const key = bucket(2, 1, '1s');
    key.charge(0, 10);
    expect([key.consume(0), key.usage(0)]).toEqual([seconds(9), [0, seconds(10)]]);
    key.refund(seconds(1), 4, 0);
    expect(key.consume(seconds(1))).toBe(seconds(4));
  });

  test.each([
    ['continuous', 7, '3s'],
    ['continuous', 1, '1d'],
    ['interval', 7, '3s'],
    ['interval', 1000, '7d'],
  ] as const)('%s, %d each %s: the largest penalty is repaid within ten years', (mode, refill, every) => {
    const key = bucket(2, refill, every, { mode });
    for (const cost of [1, Number.MAX_SAFE_INTEGER, 1, Number.MAX_SAFE_INTEGER]) key.charge(0, cost);
    expect(key.state!.every(Number.isSafeInteger)).toBe(true);
    expect(key.state![0]! - START).toBeLessThanOrEqual(MAX_MICROS);
    expect(key.usage(0)[1]).toBeGreaterThan(0.9 * Math.min(MAX_MICROS, Number.MAX_SAFE_INTEGER / refill));
  });
});

describe('clock jumps, changed policies and late refunds', () => {
  test('after the clock goes back an hour, the bucket and its penalty are unchanged', () => {
    for (const [cost, wait] of [
      [1, 0],
      [2, 5],
      [10, 45],
    ] as const) {
      const key = bucket(2, 1, '5s');
      key.charge(seconds(3600), cost);
      expect(key.consume(0)).toBe(seconds(wait));
      if (wait > 0) expect(key.consume(seconds(wait) - 1)).toBe(1);
    }
  });

  test('permits that have refilled and were taken again are not refunded', () => {
    const key = bucket(1000, 100, '1s');
    key.consume(0, 1000);
    key.consume(seconds(9.9), 990); // the permits refilled since then
    key.refund(seconds(9.9), 900, 0);
    expect(key.usage(seconds(9.9))[0]).toBe(0);
    key.refund(seconds(10), 900, seconds(9.9)); // all permits of the last call return
    expect(key.usage(seconds(10))[0]).toBe(910);
  });

  test('permits taken before the clock went back can be refunded afterwards', () => {
    const key = bucket(2, 1, '5s');
    key.consume(seconds(3600));
    key.consume(seconds(1));
    key.refund(seconds(2), 1, seconds(3600));
    expect(key.usage(seconds(2))).toEqual([1, seconds(4)]);
  });

  test('after the clock goes forward an hour, the bucket is full, not more', () => {
    const key = bucket(5, 1, '1s');
    key.consume(0, 5);
    expect(key.usage(seconds(3600))).toEqual([5, 0]);
  });

  test('under another capacity, the bucket fills at the same moment, or sooner if it is smaller', () => {
    const key = bucket(10, 1, '1s');
    key.consume(0, 10);
    key.rule = bucket(100, 1, '1s').rule;
    expect(key.usage(0)).toEqual([90, seconds(10)]);
    key.rule = bucket(3, 1, '1s').rule;
    expect(key.usage(0)).toEqual([0, seconds(3)]);
  });

  test('a penalty beyond the bucket is dropped when the policy changes', () => {
    const key = bucket(2, 1, '1s');
    key.charge(0, 10);
    expect(key.usage(seconds(1))).toEqual([0, seconds(9)]);
    key.rule = bucket(3, 1, '1s').rule;
    expect(key.usage(seconds(1))).toEqual([0, seconds(3)]);
  });
});

describe('the policy', () => {
  test('is plain data without the defaults', () => {
    expect(
      tokenBucket({ capacity: 2, refill: 1, every: '5s', mode: 'continuous', initial: 2, borrow: 0 }),
    ).toEqual({
      algorithm: 'tokenBucket',
      capacity: 2,
      refill: 1,
      every: 5000,
    });
    const all = { capacity: 2, refill: 1, every: 5000, mode: 'interval', initial: 0, borrow: 3 } as const;
    expect(tokenBucket(all)).toEqual({ algorithm: 'tokenBucket', ...all });
  });

  test('has as its size the most permits at once, and the time in which they return', () => {
    const figures = (more: Partial<TokenBucketOptions>) => {
      const { limit, window } = bucket(10, 3, '1s', more).rule;
      return [limit, window];
    };
    expect(figures({})).toEqual([10, 3_333_334]);
    expect(figures({ mode: 'interval' })).toEqual([10, seconds(4)]);
    expect(figures({ borrow: 5 })).toEqual([15, seconds(5)]);
  });

  test.each([
    [{ rate: 1 / 60, burst: 60 }, 1, 60_000],
    [{ rate: 1 / 49, burst: 49 }, 1, 49_000],
    [{ rate: 2.5, burst: 4 }, 10, 4_000],
    [{ rate: 1 / 3, burst: 9 }, 3, 9_000],
    [{ rate: 0.1, burst: 1 }, 1, 10_000],
    [{ rate: 1000, burst: 1 }, 1000, 1_000],
  ])('from a rate as a double, %j, is the fraction that was meant', (options, limit, fill) => {
    expect(tokenBucketKind.compile(tokenBucketOfRate(options))).toMatchObject({ limit, window: fill * 1000 });
  });

  test.each([
    [
      { capacity: 0.5, refill: 1, every: '1s' },
      /capacity must be a number of permits ≥ 1, or 0 for a closed limit, not 0.5/,
    ],
    [{ capacity: Number.NaN, refill: 1, every: '1s' }, /not NaN/],
    [{ capacity: 5, refill: -1, every: '1s' }, /refill must be a whole number from 0/],
    [{ capacity: 5, refill: 0.5, every: '1s' }, /refill must be a whole number .* not 0.5/],
    [{ capacity: 5, refill: 1, every: '1 s' }, /every must be a duration/],
    [{ capacity: 5, refill: 1, every: '1s', burst: 5 }, /no option 'burst'/],
    [
      { capacity: 5, refill: 1, every: '1s', mode: 'batch' },
      /mode must be 'continuous' or 'interval', not "batch"/,
    ],
    [
      { capacity: 5.5, refill: 1, every: '1s', mode: 'interval' },
      /capacity in mode 'interval' must be a whole/,
    ],
    [
      { capacity: 5, refill: 1, every: '1s', initial: 6 },
      /initial must be a whole number from 0 to 5, not 6/,
    ],
    [{ capacity: 5, refill: 1, every: '1s', borrow: -1 }, /borrow must be a whole number from 0 .* not -1/],
    [
      { capacity: 1e15, refill: 1, every: '1d' },
      /capacity 1000000000000000 with refill 1 .* beyond exact numbers/,
    ],
    [
      { capacity: 5, refill: 1, every: '1d', borrow: 1e6 },
      /borrow 1000000 .* 3650 days to fill.* smaller bucket/,
    ],
    [{ capacity: 1e6, refill: 1, every: '1d', mode: 'interval' }, /3650 days to fill/],
  ])('rejects the options %j', (options, message) => {
    expect(() => tokenBucket(options as never)).toThrow(message);
    expect(() => tokenBucketKind.compile({ algorithm: 'tokenBucket', ...options } as never)).toThrow(message);
  });

  test.each([
    { rate: -1, burst: 1 },
    { rate: 1, burst: -1 },
    { rate: Number.NaN, burst: 1 },
    { rate: '1', burst: 1 },
  ])('rejects the rate %j', (options) => {
    expect(() => tokenBucketOfRate(options as never)).toThrow(RangeError);
  });
});
