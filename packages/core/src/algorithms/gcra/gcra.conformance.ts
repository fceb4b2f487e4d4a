import fc from 'fast-check';
import type { Conformance } from '../../../../../tests/support/conformance/conformance.js';
import { anySpan, MS } from '../../../../../tests/support/conformance/contest-parts.js';
import { between, bucket, units } from '../../../../../tests/support/conformance/oracle-parts.js';
import { onePerSecond } from '../../../../../tests/support/conformance/picture-parts.js';
import {
  amount,
  capacity,
  every,
  given,
  optional,
} from '../../../../../tests/support/conformance/random-parts.js';
import { bucketSubject, LIMIT, steady } from '../../../../../tests/support/conformance/subject-parts.js';
import { gcra } from './gcra.js';

export const conformance: Conformance = {
  policies: {
    gcra: (period, limit = 10) => gcra({ limit, period }),
  },
  inPlace: true,
  random: {
    gcra: fc.record({ limit: amount, period: every, burst: optional(capacity) }).map((o) => gcra(given(o))),
  },
  oracles: {
    gcra: (random) => {
      const [limit, period, burst] = [
        between(random, 1, 5_000),
        between(random, 1, 2_000_000),
        between(random, 1, 50),
      ];
      const { perPermit, flow } = units(limit, period);
      return {
        policy: gcra({ limit, period: period / 1000, burst }),
        most: burst + 1,
        pace: period / limit,
        ...bucket(burst * perPermit, 0, perPermit, flow, 1),
      };
    },
  },
  subjects: {
    gcra: bucketSubject(gcra({ limit: 8, period: '2h', burst: LIMIT }), steady),
  },
  contests: {
    gcra: anySpan(gcra({ limit: 7, period: '73ms', burst: 5 }), 5, 7, 73 * MS),
  },
  picture: onePerSecond(3),
  memory: { options: { limit: 100, period: '1h' } },
};
