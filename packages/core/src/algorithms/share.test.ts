import fc from 'fast-check';
import {
  concurrency,
  fixedWindow,
  gcra,
  leakyBucket,
  type Policy,
  slidingLog,
  slidingWindow,
  tokenBucket,
} from '../index.js';
import { compilePolicy, compileShare } from './index.js';

test.each<[string, Policy, number, Policy]>([
  ['fixedWindow', fixedWindow({ limit: 10, window: '1m' }), 0.25, fixedWindow({ limit: 2, window: '1m' })],
  [
    'slidingWindow',
    slidingWindow({ limit: 8, window: '1m' }),
    0.5,
    slidingWindow({ limit: 4, window: '1m' }),
  ],
  ['slidingLog', slidingLog({ limit: 8, window: '1m' }), 0.5, slidingLog({ limit: 4, window: '1m' })],
  ['concurrency', concurrency({ limit: 5, queue: 3 }), 0.5, concurrency({ limit: 2, queue: 3 })],
  ['gcra', gcra({ limit: 10, period: '1m' }), 0.2, gcra({ limit: 10, period: '5m', burst: 2 })],
  [
    'gcra with a burst',
    gcra({ limit: 60, period: '1m', burst: 4 }),
    0.5,
    gcra({ limit: 60, period: '2m', burst: 2 }),
  ],
  [
    'leakyBucket',
    leakyBucket({ capacity: 8, leak: 3, every: '1s' }),
    0.25,
    leakyBucket({ capacity: 2, leak: 3, every: 4000.002 }),
  ],
  [
    'tokenBucket',
    tokenBucket({ capacity: 8, refill: 2, every: '1s', initial: 4, borrow: 3 }),
    0.25,
    tokenBucket({ capacity: 2, refill: 2, every: '4s', initial: 1, borrow: 0 }),
  ],
  [
    'tokenBucket in batches',
    tokenBucket({ capacity: 8, refill: 4, every: '1s', mode: 'interval' }),
    0.5,
    tokenBucket({ capacity: 4, refill: 2, every: '1s', mode: 'interval' }),
  ],
  [
    'tokenBucket in batches of less than one',
    tokenBucket({ capacity: 8, refill: 2, every: '1s', mode: 'interval' }),
    0.25,
    tokenBucket({ capacity: 2, refill: 1, every: '2s', mode: 'interval' }),
  ],
  [
    'one permit at least',
    fixedWindow({ limit: 3, window: '1m' }),
    0.01,
    fixedWindow({ limit: 1, window: '1m' }),
  ],
])('a share of %s is the expected policy', (_, policy, share, expected) => {
  expect(compileShare(policy, share).parameters).toEqual(compilePolicy(expected).parameters);
});

test('a share of a period of months is a whole number of µs', () => {
  const policy = gcra({ limit: 246, period: 9_831 * 246, burst: 1 });
  const [all, some] = [compilePolicy(policy), compileShare(policy, 0.000_140_758_104_245_413_3)];
  expect(some.window).toBeGreaterThan(7_000 * all.window);
});

test('a share of 1 is the policy itself', () => {
  const policy = tokenBucket({ capacity: 1.5, refill: 7, every: '13s', initial: 0, borrow: 9 });
  expect(compileShare(policy, 1)).toEqual(compilePolicy(policy));
});

test('a share never admits more than its part of the rate, except one permit at least', () => {
  const permits = fc.integer({ min: 1, max: 1_000_000 });
  const rate = fc.integer({ min: 1, max: 1_000 });
  const part = fc.double({ min: 0.000_1, max: 1, noNaN: true });
  fc.assert(
    fc.property(
      permits,
      rate,
      fc.integer({ min: 1, max: 10_000 }),
      part,
      (capacity, refill, every, share) => {
        for (const policy of [
          tokenBucket({ capacity, refill, every: every * refill }),
          leakyBucket({ capacity, leak: refill, every: every * refill }),
          gcra({ limit: refill, period: every * refill, burst: capacity }),
        ]) {
          const [all, some] = [compilePolicy(policy), compileShare(policy, share)];
          expect(some.limit).toBeLessThanOrEqual(Math.max(1, all.limit * share));
          expect(some.limit / some.window).toBeLessThanOrEqual((all.limit / all.window) * share * (1 + 1e-9));
        }
      },
    ),
  );
});
