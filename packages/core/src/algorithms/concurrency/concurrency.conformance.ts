import fc from 'fast-check';
import type { Conformance } from '../../../../../tests/support/conformance/conformance.js';
import { inSteps } from '../../../../../tests/support/conformance/picture-parts.js';
import { openOr } from '../../../../../tests/support/conformance/random-parts.js';
import { HOUR, LIMIT, SECOND, windows } from '../../../../../tests/support/conformance/subject-parts.js';
import { concurrency } from './concurrency.js';

export const conformance: Conformance = {
  policies: {
    concurrency: (lease, limit = 10) => concurrency({ limit, lease }),
  },
  holds: true,
  random: {
    concurrency: fc
      .record({
        limit: openOr(fc.integer({ min: 1, max: 4 })),
        lease: fc.oneof(fc.integer({ min: 100, max: 1_000 }), fc.integer({ min: 1_000, max: 600_000 })),
        queue: fc.integer({ min: 1, max: 4 }),
      })
      .map((o) => concurrency(o)),
  },
  subjects: {
    // Nobody releases here: taken permits are held for a lease.
    concurrency: windows(concurrency({ limit: LIMIT, lease: '1h' }), HOUR, 1),
  },
  picture: { ...inSteps(2, 2 * SECOND), holds: 2 * SECOND },
  memory: { options: { limit: 10 }, calls: 10 },
};
