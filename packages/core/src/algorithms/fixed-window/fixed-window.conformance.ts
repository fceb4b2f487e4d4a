import fc from 'fast-check';
import type { Conformance } from '../../../../../tests/support/conformance/conformance.js';
import {
  idealWindows,
  inClockWindows,
  inNamedWindows,
  MS,
} from '../../../../../tests/support/conformance/contest-parts.js';
import { between } from '../../../../../tests/support/conformance/oracle-parts.js';
import { inSteps } from '../../../../../tests/support/conformance/picture-parts.js';
import { limit, period } from '../../../../../tests/support/conformance/random-parts.js';
import {
  DAY,
  HOUR,
  LIMIT,
  SECOND,
  times,
  windows,
} from '../../../../../tests/support/conformance/subject-parts.js';
import { fixedWindow } from './fixed-window.js';

export const conformance: Conformance = {
  policies: {
    fixedWindow: (window, limit = 10) => fixedWindow({ limit, window }),
    'fixedWindow by the clock': (window, limit = 10) => fixedWindow({ limit, window, align: 'clock' }),
  },
  inPlace: true,
  random: {
    'fixedWindow, first hit': fc.record({ limit, window: period }).map((o) => fixedWindow(o)),
    'fixedWindow, clock': fc
      .record({ limit, window: period })
      .map((o) => fixedWindow({ ...o, align: 'clock' })),
    'fixedWindow, calendar days': fc
      .record({ limit, timeZone: fc.constantFrom('Europe/Berlin', 'America/New_York', 'Asia/Kolkata') })
      .map((o) => fixedWindow({ ...o, window: '1d', align: 'clock' })),
    'fixedWindow, weeks and months': fc
      .record({
        limit,
        timeZone: fc.constantFrom('America/Sao_Paulo', 'Pacific/Apia', 'UTC'),
        windows: fc.constantFrom(
          { window: '1 week', anchor: 'wednesday' } as const,
          { window: '1 month', anchor: 31 } as const,
          { window: '3 months', anchor: '02-29' } as const,
        ),
      })
      .map(({ windows, ...o }) => fixedWindow({ ...o, ...windows })),
  },
  oracles: {
    'fixedWindow, first hit': (random) => {
      const [limit, window] = [between(random, 1, 50), between(random, 1, 2_000_000)];
      let [end, used] = [0, 0];
      return {
        policy: fixedWindow({ limit, window: window / 1000 }),
        most: limit + 1,
        pace: window / limit,
        within(first, last, cancelled) {
          const joined = cancelled.filter((at) => at > first - 2 * window && at <= last).length;
          return limit * (Math.floor((last - first) / window) + 2 + joined);
        },
        left: (now) => (now >= end ? limit : limit - used),
        take(now, cost) {
          if (now >= end) [end, used] = [now + window, 0];
          used += cost;
        },
      };
    },
    'fixedWindow, clock': (random) => {
      const [limit, window] = [between(random, 1, 50), between(random, 1, 2_000_000)];
      let [current, used] = [-1, 0];
      return {
        policy: fixedWindow({ limit, window: window / 1000, align: 'clock' }),
        most: limit + 1,
        pace: window / limit,
        left: (now) => (Math.floor(now / window) === current ? limit - used : limit),
        take(now, cost) {
          if (Math.floor(now / window) !== current) [current, used] = [Math.floor(now / window), 0];
          used += cost;
        },
      };
    },
  },
  subjects: {
    'fixedWindow, first hit': windows(fixedWindow({ limit: LIMIT, window: '1h' }), HOUR, 1),
    'fixedWindow, clock': windows(fixedWindow({ limit: LIMIT, window: '1h', align: 'clock' }), HOUR, 2),
    'fixedWindow, calendar days': {
      ...windows(
        fixedWindow({ limit: LIMIT, window: '1d', align: 'clock', timeZone: 'Europe/Berlin' }),
        23 * HOUR,
        2,
      ),
      ...times(25 * HOUR),
    },
    'fixedWindow, calendar months': {
      ...windows(fixedWindow({ limit: LIMIT, window: '1 month', timeZone: 'Europe/Berlin' }), 28 * DAY, 2),
      ...times(31 * DAY + HOUR),
    },
  },
  contests: {
    'fixedWindow, first-hit': {
      policy: fixedWindow({ limit: 10, window: '100ms' }),
      judge: inNamedWindows(10, 100 * MS),
      ideal: () => idealWindows(10, 100 * MS, 'first-hit'),
    },
    'fixedWindow, clock': {
      policy: fixedWindow({ limit: 10, window: '100ms', align: 'clock' }),
      judge: inClockWindows(10, 100 * MS),
      ideal: () => idealWindows(10, 100 * MS, 'clock'),
    },
  },
  picture: inSteps(10, 10 * SECOND),
  memory: { options: { limit: 100, window: '1h' } },
};
