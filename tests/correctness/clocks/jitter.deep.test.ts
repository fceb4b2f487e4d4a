import { gcra, leakyBucket, type Policy, slidingLog, tokenBucket } from '../../../packages/core/src/index.js';
import { START } from '../../support/timeline.js';
import { memorySide, persistentRedisSide, type Side } from './sides.js';
import { DAY, HOUR, SECOND, type Subject, subjects } from './subjects.js';

/*
 * A jittering clock: at each call it is wrong by another amount, up to 5 ms either way. Every algorithm admits as many permits as by
 * a right clock, except for the error at the beginning and the end of a span or window: a step back admits nothing more.
 */

const MS = SECOND / 1000;
const SHAKE = 5 * MS;

let sides: Side[];
beforeAll(() => {
  sides = [memorySide(), persistentRedisSide()];
});
afterAll(() => Promise.all(sides.map((side) => side.close())));

/** The error of the clock, µs: both extremes, and values in between. */
const jitter = (call: number) => [SHAKE, -SHAKE, SHAKE, -SHAKE, 0, -3 * MS, 2 * MS][call % 7]!;

/** A moment at which an hour begins and, in Berlin, a day. */
const EDGE = Math.ceil(START / DAY) * DAY - HOUR;

test.each(Object.entries(subjects))(
  '%s: with a jittering clock admits no more around window edges and between them',
  async (_, { policy, window, most }: Subject) => {
    const near = (edge: number) => Array.from({ length: 60 }, (_, i) => edge + (i - 30) * (MS / 2));
    const between = (from: number) =>
      Array.from({ length: 20 }, (_, i) => from + Math.floor((i * window) / 20));
    // Windows and ticks begin at EDGE, or half a window after the first call. The first call is far from an edge, so that Redis
    // does not expire its key before the test reaches the edge.
    const moments = [-window / 2, 0, window / 2, window, 1.5 * window]
      .flatMap((edge) => [...near(edge), ...between(edge + 100 * MS)])
      .map(Math.floor)
      .sort((a, b) => a - b);
    for (const side of sides) {
      const key = side.key(policy);
      let taken = 0;
      for (const [i, real] of moments.entries()) {
        while ((await key.ask(EDGE + real + jitter(i))).allowed) taken += 1;
        const span = real - moments[0]!;
        expect(taken).toBeLessThanOrEqual(most(span + 2 * SHAKE * (1 + Math.floor(span / window))));
      }
    }
  },
);

/** 50 permits, and the shortest time (µs) in which 50 come back: the clock is wrong at both ends of a window. */
const fast: Record<string, readonly [Policy, number]> = {
  tokenBucket: [tokenBucket({ capacity: 50, refill: 500, every: '1s' }), 100 * MS],
  gcra: [gcra({ limit: 500, period: '1s', burst: 50 }), 100 * MS],
  leakyBucket: [leakyBucket({ capacity: 50, leak: 500, every: '1s' }), 100 * MS],
  slidingLog: [slidingLog({ limit: 50, window: '100ms' }), 100 * MS - 2 * SHAKE],
};

// Only in memory: Redis would expire such short keys by its own clock. Both decide alike, see twins.test.ts.
test.each(Object.entries(fast))(
  '%s: with permits faster than the jitter admits no more, at once or booked',
  async (_, [policy, shortest]) => {
    for (const wait of [0, 80 * MS]) {
      const key = sides[0]!.key(policy);
      let taken = 0;
      for (let real = 0, call = 0; real <= 2 * SECOND; real += MS, call += 1) {
        for (;;) {
          const options = wait === 0 ? {} : ({ operation: 'acquire', wait } as const);
          if (!(await key.ask(START + real + jitter(call), options)).allowed) break;
          taken += 1;
        }
      }
      const span = 2 * SECOND + wait + 2 * SHAKE;
      expect(taken).toBeLessThanOrEqual(50 + (50 * span) / shortest);
      expect(taken).toBeGreaterThan((50 * 1.8 * SECOND) / (100 * MS));
    }
  },
);

test.each(Object.entries(subjects))(
  '%s: locks out for at most a window and the jitter',
  async (_, { policy, window }) => {
    for (const side of sides) {
      const key = side.key(policy);
      while ((await key.ask(START + SHAKE)).allowed);
      const { wait } = await key.ask(START - SHAKE, { operation: 'peek', cost: 4 });
      expect(wait).toBeLessThanOrEqual(window + 2 * SHAKE);
      expect(await key.ask(START - SHAKE + wait, { cost: 4 })).toMatchObject({ allowed: true });
    }
  },
);
