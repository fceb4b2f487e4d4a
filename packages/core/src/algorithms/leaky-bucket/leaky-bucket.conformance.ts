import fc from 'fast-check';
import type { Conformance } from '../../../../../tests/support/conformance/conformance.js';
import { anySpan, MS } from '../../../../../tests/support/conformance/contest-parts.js';
import { between, bucket, units } from '../../../../../tests/support/conformance/oracle-parts.js';
import { onePerSecond } from '../../../../../tests/support/conformance/picture-parts.js';
import { amount, capacity, every } from '../../../../../tests/support/conformance/random-parts.js';
import { bucketSubject, LIMIT, steady } from '../../../../../tests/support/conformance/subject-parts.js';
import { leakyBucket } from './leaky-bucket.js';

export const conformance: Conformance = {
  policies: {
    leakyBucket: (every, n = 10) => leakyBucket({ capacity: n, leak: n, every }),
  },
  spaces: true,
  inPlace: true,
  random: {
    leakyBucket: fc.record({ capacity, leak: amount, every }).map((o) => leakyBucket(o)),
  },
  oracles: {
    leakyBucket: (random) => {
      const [capacity, leak, every] = [
        between(random, 1, 50),
        between(random, 1, 5_000),
        between(random, 1, 2_000_000),
      ];
      const { perPermit, flow } = units(leak, every);
      return {
        policy: leakyBucket({ capacity, leak, every: every / 1000 }),
        most: capacity + 1,
        pace: every / leak,
        ...bucket(capacity * perPermit, 0, perPermit, flow, 1),
      };
    },
  },
  subjects: {
    leakyBucket: bucketSubject(leakyBucket({ capacity: LIMIT, leak: LIMIT, every: '1h' }), steady),
  },
  contests: {
    leakyBucket: anySpan(leakyBucket({ capacity: 6, leak: 5, every: '57ms' }), 6, 5, 57 * MS),
  },
  picture: { ...onePerSecond(1), waits: true },
  memory: { options: { capacity: 100, leak: 100, every: '1h' } },
};
