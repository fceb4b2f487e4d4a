import fc from 'fast-check';
import type { Conformance } from '../../../../../tests/support/conformance/conformance.js';
import { between, returning } from '../../../../../tests/support/conformance/oracle-parts.js';
import { limit, period } from '../../../../../tests/support/conformance/random-parts.js';
import { HOUR, LIMIT, times, windows } from '../../../../../tests/support/conformance/subject-parts.js';
import { slidingWindow } from './sliding-window.js';

export const slidingWindowConformance: Conformance = {
  policies: {
    slidingWindow: (window, limit = 10) => slidingWindow({ limit, window }),
  },
  random: {
    slidingWindow: fc
      .record({ limit, window: period, slots: fc.integer({ min: 1, max: 12 }) })
      .map((o) => slidingWindow(o)),
  },
  oracles: {
    slidingWindow: (random) => {
      const [limit, slots] = [between(random, 1, 50), between(random, 1, 20)];
      const window = between(random, slots, 2_000_000);
      const slot = Math.ceil(window / slots);
      return {
        policy: slidingWindow({ limit, window: window / 1000, slots }),
        most: limit + 1,
        pace: window / limit,
        ...returning(limit, (now) => (Math.floor(now / slot) + 1) * slot + window),
      };
    },
  },
  subjects: {
    slidingWindow: {
      ...windows(slidingWindow({ limit: LIMIT, window: '1h' }), HOUR, 1),
      ...times(HOUR + HOUR / 10),
    },
  },
};
