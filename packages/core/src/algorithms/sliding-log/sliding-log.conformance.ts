import fc from 'fast-check';
import type { Conformance } from '../../../../../tests/support/conformance/conformance.js';
import { anyWindow, MS } from '../../../../../tests/support/conformance/contest-parts.js';
import { between, returning } from '../../../../../tests/support/conformance/oracle-parts.js';
import { inSteps } from '../../../../../tests/support/conformance/picture-parts.js';
import { limit, period } from '../../../../../tests/support/conformance/random-parts.js';
import { HOUR, LIMIT, SECOND, windows } from '../../../../../tests/support/conformance/subject-parts.js';
import { slidingLog } from './sliding-log.js';

export const conformance: Conformance = {
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
  contests: {
    slidingLog: anyWindow(slidingLog({ limit: 10, window: '100ms' }), 10, 100 * MS),
  },
  picture: inSteps(10, 10 * SECOND),
  memory: { options: { limit: 100, window: '1h' }, calls: 100, gap: HOUR / 100 },
};
