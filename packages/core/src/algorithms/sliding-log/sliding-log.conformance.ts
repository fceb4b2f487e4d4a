import fc from 'fast-check';
import type { Conformance } from '../../../../../tests/support/conformance/conformance.js';
import { between, returning } from '../../../../../tests/support/conformance/oracle-parts.js';
import { limit, period } from '../../../../../tests/support/conformance/random-parts.js';
import { HOUR, LIMIT, windows } from '../../../../../tests/support/conformance/subject-parts.js';
import { slidingLog } from './sliding-log.js';

export const slidingLogConformance: Conformance = {
  policies: {
    slidingLog: (window, limit = 10) => slidingLog({ limit, window }),
  },
  random: {
    slidingLog: fc.record({ limit, window: period }).map((o) => slidingLog(o)),
  },
  oracles: {
    slidingLog: (random) => {
      const [limit, window] = [between(random, 1, 50), between(random, 1, 2_000_000)];
      return {
        policy: slidingLog({ limit, window: window / 1000 }),
        most: limit + 1,
        pace: window / limit,
        ...returning(limit, (now) => now + window),
      };
    },
  },
  subjects: {
    slidingLog: windows(slidingLog({ limit: LIMIT, window: '1h' }), HOUR, 1),
  },
};
