import { gcra, leakyBucket, type Policy, slidingLog, tokenBucket } from '../../../packages/core/src/index.js';
import { START } from '../../support/timeline.js';
import { memorySide, persistentRedisSide, type Side } from './sides.js';
import { DAY, HOUR, SECOND, type Subject, subjects } from './subjects.js';

/*
 * A clock that trembles: it shows up to 5 ms too much or too little, something else at each call. Every algorithm admits what it
 * would by a clock that is right, but for what such a clock is wrong where a span or a window begins and ends: no step back
 * gives anything away.
 */

const MS = SECOND / 1000;
const SHAKE = 5 * MS;

let sides: Side[];
beforeAll(() => {
  sides = [memorySide(), persistentRedisSide()];
});
afterAll(() => Promise.all(sides.map((side) => side.close())));

/** To and fro, as far as it goes, and in between. */
const trembling = (call: number) => [SHAKE, -SHAKE, SHAKE, -SHAKE, 0, -3 * MS, 2 * MS][call % 7]!;

/** Around what begins for all at once: an hour and, in Berlin, a day. */
const EDGE = Math.ceil(START / DAY) * DAY - HOUR;

test.each(Object.entries(subjects))(
  '%s: around each edge, and in between',
  async (_, { policy, window, most }: Subject) => {
    const near = (edge: number) => Array.from({ length: 60 }, (_, i) => edge + (i - 30) * (MS / 2));
    const between = (from: number) =>
      Array.from({ length: 20 }, (_, i) => from + Math.floor((i * window) / 20));
    // Where windows and ticks begin: at EDGE, or half a window after the first call, which is far from an edge: Redis must not
    // forget what is used up there before the test has come to it.
    const moments = [-window / 2, 0, window / 2, window, 1.5 * window]
      .flatMap((edge) => [...near(edge), ...between(edge + 100 * MS)])
      .map(Math.floor)
      .sort((a, b) => a - b);
    for (const side of sides) {
      const key = side.key(policy);
      let taken = 0;
      for (const [i, real] of moments.entries()) {
        while ((await key.ask(EDGE + real + trembling(i))).allowed) taken += 1;
        const span = real - moments[0]!;
        expect(taken).toBeLessThanOrEqual(most(span + 2 * SHAKE * (1 + Math.floor(span / window))));
      }
    }
  },
);

/** 50 permits, and the shortest time in which 50 come back: a window has two ends, at which the clock is wrong. */
const fast: Record<string, readonly [Policy, number]> = {
  tokenBucket: [tokenBucket({ capacity: 50, refill: 500, every: '1s' }), 100 * MS],
  gcra: [gcra({ limit: 500, period: '1s', burst: 50 }), 100 * MS],
  leakyBucket: [leakyBucket({ capacity: 50, leak: 500, every: '1s' }), 100 * MS],
  slidingLog: [slidingLog({ limit: 50, window: '100ms' }), 100 * MS - 2 * SHAKE],
};

// In memory alone: in Redis so short a life would end by the server's own clock. Both decide alike, see twins.test.ts.
test.each(Object.entries(fast))(
  '%s: faster than the clock trembles, nothing more goes, at once or booked',
  async (_, [policy, shortest]) => {
    for (const wait of [0, 80 * MS]) {
      const key = sides[0]!.key(policy);
      let taken = 0;
      for (let real = 0, call = 0; real <= 2 * SECOND; real += MS, call += 1) {
        for (;;) {
          const asked = wait === 0 ? {} : ({ operation: 'acquire', wait } as const);
          if (!(await key.ask(START + real + trembling(call), asked)).allowed) break;
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
  '%s: nobody is locked out for more than a window and what it trembles',
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
