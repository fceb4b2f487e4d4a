import fc from 'fast-check';
import type { Conformance } from '../../../../../tests/support/conformance/conformance.js';
import {
  anySpan,
  idealBatches,
  inBatches,
  MS,
} from '../../../../../tests/support/conformance/contest-parts.js';
import { between, bucket, units } from '../../../../../tests/support/conformance/oracle-parts.js';
import { onePerSecond } from '../../../../../tests/support/conformance/picture-parts.js';
import {
  amount,
  capacity,
  every,
  given,
  openOr,
  optional,
} from '../../../../../tests/support/conformance/random-parts.js';
import {
  bucketSubject,
  DAY,
  HOUR,
  LIMIT,
  steady,
} from '../../../../../tests/support/conformance/subject-parts.js';
import { tokenBucket, tokenBucketOfRate } from './token-bucket.js';

export const conformance: Conformance = {
  policies: {
    tokenBucket: (every, n = 10) => tokenBucket({ capacity: n, refill: n, every }),
    'tokenBucket in batches': (every, n = 10) =>
      tokenBucket({ capacity: n, refill: n, every, mode: 'interval' }),
  },
  inPlace: true,
  random: {
    'tokenBucket, continuous': fc.oneof(
      fc
        .record({
          capacity,
          refill: amount,
          every,
          initial: optional(fc.constant(0)),
          borrow: optional(fc.integer({ min: 1, max: 5 })),
          waitBeyondCapacity: optional(fc.constant(true)),
        })
        .map((o) => tokenBucket(given(o))),
      fc
        .record({
          rate: fc.double({ min: 0.001, max: 5_000, noNaN: true }),
          burst: fc.double({ min: 0.01, max: 100, noNaN: true }),
        })
        .map(tokenBucketOfRate),
    ),
    'tokenBucket, interval': fc
      .record({
        capacity,
        refill: openOr(fc.integer({ min: 1, max: 20 })),
        every,
        initial: optional(fc.constant(1)),
        borrow: optional(fc.integer({ min: 1, max: 5 })),
        waitBeyondCapacity: optional(fc.constant(true)),
      })
      .map((o) =>
        tokenBucket(given({ ...o, mode: 'interval', initial: o.capacity === 0 ? undefined : o.initial })),
      ),
  },
  oracles: {
    'tokenBucket, continuous': (random) => {
      const [capacity, refill, every] = [
        between(random, 1, 50),
        between(random, 1, 5_000),
        between(random, 1, 2_000_000),
      ];
      const borrow = random(3) === 0 ? between(random, 1, 20) : 0;
      const { perPermit, flow } = units(refill, every);
      return {
        policy: tokenBucket({ capacity, refill, every: every / 1000, borrow }),
        most: capacity + borrow + 1,
        pace: every / refill,
        ...bucket(capacity * perPermit, borrow * perPermit, perPermit, flow, 1),
      };
    },
    'tokenBucket, interval': (random) => {
      const [capacity, refill, every] = [
        between(random, 1, 50),
        between(random, 1, 20),
        between(random, 1, 2_000_000),
      ];
      const borrow = random(3) === 0 ? between(random, 1, 20) : 0;
      return {
        policy: tokenBucket({ capacity, refill, every: every / 1000, mode: 'interval', borrow }),
        most: capacity + borrow + 1,
        pace: every / refill,
        within: (first, last) => capacity + borrow + refill * Math.ceil((last - first) / every),
        ...bucket(capacity, borrow, 1, refill, every),
      };
    },
  },
  subjects: {
    'tokenBucket, continuous': bucketSubject(
      tokenBucket({ capacity: LIMIT, refill: LIMIT, every: '1h' }),
      steady,
    ),
    'tokenBucket, interval': bucketSubject(
      tokenBucket({ capacity: LIMIT, refill: 2, every: '30m', mode: 'interval' }),
      (span) => LIMIT + 2 * Math.ceil(span / (HOUR / 2)),
    ),
    'tokenBucket, borrow': bucketSubject(
      tokenBucket({ capacity: 2, borrow: 2, refill: LIMIT, every: '1h' }),
      steady,
    ),
    // A bucket that begins with less than it holds is known for a day.
    'tokenBucket, initial': {
      ...bucketSubject(tokenBucket({ capacity: LIMIT, initial: 1, refill: LIMIT, every: '1h' }), steady),
      longestTtl: DAY,
    },
  },
  contests: {
    'tokenBucket, continuous': anySpan(
      tokenBucket({ capacity: 10, refill: 3, every: '31ms' }),
      10,
      3,
      31 * MS,
    ),
    'tokenBucket, interval': {
      policy: tokenBucket({ capacity: 10, refill: 5, every: '50ms', mode: 'interval' }),
      judge: inBatches(10, 5, 50 * MS),
      ideal: () => idealBatches(10, 5, 50 * MS),
    },
  },
  picture: onePerSecond(10),
  memory: { options: { capacity: 100, refill: 100, every: '1h' } },
};
