import fc from 'fast-check';
import type { Conformance } from '../../../../../tests/support/conformance/conformance.js';
import { anyWindow, MS } from '../../../../../tests/support/conformance/contest-parts.js';
import { between, returning } from '../../../../../tests/support/conformance/oracle-parts.js';
import { inSteps } from '../../../../../tests/support/conformance/picture-parts.js';
import { limit, period } from '../../../../../tests/support/conformance/random-parts.js';
import {
  HOUR,
  LIMIT,
  SECOND,
  times,
  windows,
} from '../../../../../tests/support/conformance/subject-parts.js';
import { slidingWindow } from './sliding-window.js';

export const conformance: Conformance = {
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
  contests: {
    slidingWindow: {
      ...anyWindow(slidingWindow({ limit: 10, window: '100ms', slots: 50 }), 10, 100 * MS),
      cautious: true,
    },
  },
  picture: inSteps(10, 10 * SECOND),
  // Two calls in each slot.
  memory: { options: { limit: 100, window: '1h' }, calls: 20, gap: HOUR / 20 },
};
