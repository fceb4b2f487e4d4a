import { randomFrom } from '../../../../tests/support/random.js';
import { ms, START, seconds, Timeline } from '../../../../tests/support/timeline.js';
import type { Policy } from '../algorithms/algorithm.js';
import { fixedWindow } from '../algorithms/fixed-window/fixed-window.js';
import { leakyBucket } from '../algorithms/leaky-bucket/leaky-bucket.js';
import { slidingLog } from '../algorithms/sliding-log/sliding-log.js';
import { slidingWindow } from '../algorithms/sliding-window/sliding-window.js';
import { tokenBucket } from '../algorithms/token-bucket/token-bucket.js';
import { type Entry, isEnvelope } from './entry.js';

const bookings = (entry: Entry | undefined): [at: number, cost: number][] => {
  if (entry === undefined || !isEnvelope(entry)) return [];
  const pairs: [number, number][] = [];
  for (let i = 0; i < entry.queue.length; i += 2) pairs.push([entry.queue[i]! - START, entry.queue[i + 1]!]);
  return pairs;
};
const onePerSecond = tokenBucket({ capacity: 1, refill: 1, every: '1s' });

/** An empty bucket, and three waiting calls: for 1 s, 2 s and 3 s. */
function threeWaiting() {
  const line = new Timeline(onePerSecond);
  line.consume(0);
  expect([line.book(0), line.book(0), line.book(0)]).toEqual([seconds(1), seconds(2), seconds(3)]);
  return line;
}
const giveBack = (line: Timeline, now: number, at: number, cost = 1) =>
  line.ask(now, { operation: 'refund', at: START + at, cost });

test('a later call waits behind all bookings, even with a smaller cost', () => {
  const line = new Timeline(tokenBucket({ capacity: 5, refill: 1, every: '1s' }));
  line.consume(0, 5);
  expect(line.book(0, 5)).toBe(seconds(5));
  expect(line.book(0, 1)).toBe(seconds(6));
  expect(line.ask(seconds(2))).toMatchObject({ allowed: false, wait: seconds(5) });
});

test('a key that expires at the moment of a call starts with its initial permits', () => {
  const line = new Timeline(tokenBucket({ capacity: 17, refill: 197, every: 1.625, initial: 3 }));
  expect(line.book(0, 8)).toBe(42);
  // The timeline compares with the answer without the entry: it has just expired, but may still be stored.
  expect(line.book(42 + seconds(86_400), 8)).toBe(42);
});

test('a cancelled booking in the middle is offered to the next call; the others keep their moments', () => {
  const line = threeWaiting();
  giveBack(line, ms(1), seconds(2));
  expect(bookings(line.entries[0])).toEqual([
    [seconds(1), 1],
    [seconds(3), 1],
  ]);
  expect(line.ask(ms(2), { operation: 'peek' })).toMatchObject({ allowed: false, wait: seconds(2) - ms(2) });
  expect(line.book(ms(2))).toBe(seconds(2) - ms(2));
  expect(line.book(ms(2))).toBe(seconds(4) - ms(2));
});

test('a gap is offered to a call that fits, not to one that would delay a booking', () => {
  const line = new Timeline(tokenBucket({ capacity: 4, refill: 1, every: '1s' }));
  line.consume(0, 4);
  expect([line.book(0, 2), line.book(0, 2), line.book(0, 4)]).toEqual([seconds(2), seconds(4), seconds(8)]);
  giveBack(line, 0, seconds(4), 2);
  expect(line.book(0, 3)).toBe(seconds(11)); // at 5 s there would be 3, but then not 4 at 8 s
  expect(line.book(0, 1)).toBe(seconds(3)); // the bucket is full again at 7 s
  expect(bookings(line.entries[0]).map(([at]) => at)).toEqual([
    seconds(2),
    seconds(3),
    seconds(8),
    seconds(11),
  ]);
});

test('cancelling the last booking, or all bookings, leaves no gap', () => {
  const line = threeWaiting();
  giveBack(line, 0, seconds(3));
  expect(line.entries[0]).toMatchObject({ hasGaps: false });
  giveBack(line, 0, seconds(1));
  expect(line.entries[0]).toMatchObject({ hasGaps: true });
  expect(line.consume(seconds(3))).toBe(true);
  expect(Array.isArray(line.entries[0])).toBe(true);
});

test('a refund of permits that were not booked, or of another moment, changes nothing', () => {
  const line = threeWaiting();
  const before = line.entries[0];
  giveBack(line, 0, seconds(2) + 1);
  giveBack(line, 0, seconds(5));
  giveBack(line, 0, seconds(2), 0);
  expect(line.entries[0]).toEqual(before);
});

test.each([[[2, 5, 3]], [[5, 2, 3]], [[3, 5, 2]], [[5, 3, 2]], [[2, 3, 5]]])(
  'bookings of one moment can be refunded in any order, each in full: %j',
  (order) => {
    const line = new Timeline(fixedWindow({ limit: 10, window: '10s' }));
    line.consume(0, 10);
    for (const cost of [2, 5, 3]) expect(line.book(0, cost)).toBe(seconds(10));
    for (const cost of order) giveBack(line, 0, seconds(10), cost);
    expect(bookings(line.entries[0])).toEqual([]);
  },
);

test('bookings of one moment can be refunded in parts', () => {
  const line = new Timeline(fixedWindow({ limit: 10, window: '10s' }));
  line.consume(0, 10);
  line.book(0, 5);
  line.book(0, 3);
  for (const part of [1, 5, 2]) giveBack(line, 0, seconds(10), part); // one of the 3, the 5, then the rest of the 3
  expect(bookings(line.entries[0])).toEqual([]);
});

test('refunded past permits are offered to the next call, although other calls wait', () => {
  const line = new Timeline(slidingLog({ limit: 2, window: '10s' }));
  const taken = line.ask(0, { cost: 2 });
  expect(line.book(ms(1), 1)).toBe(seconds(10) - ms(1));
  line.ask(ms(2), { operation: 'refund', cost: 2, at: taken.parts[0]!.at });
  expect(line.consume(ms(3), 2)).toBe(false); // the booking at 10 s would lack one of them
  expect(line.consume(ms(3), 1)).toBe(true);
  expect(bookings(line.entries[0])).toEqual([[seconds(10), 1]]);
});

test('a penalty does not move bookings', () => {
  const line = threeWaiting();
  line.ask(0, { operation: 'charge', cost: 10 });
  expect(bookings(line.entries[0]).map(([at]) => at)).toEqual([seconds(1), seconds(2), seconds(3)]);
  expect(line.book(0)).toBe(seconds(14));
});

const ANCHORED: Record<string, Policy> = {
  'a window that begins with its first call': fixedWindow({ limit: 3, window: '10s' }),
  ticks: tokenBucket({ capacity: 3, refill: 3, every: '10s', mode: 'interval' }),
};

/** A timeline with each cost booked for its second. */
function booked(policy: Policy, ...pairs: readonly (readonly [second: number, cost: number])[]) {
  const line = new Timeline(policy);
  for (const [second, cost] of pairs) {
    line.ask(0, { operation: 'block', wait: seconds(second) });
    expect(line.book(0, cost)).toBe(seconds(second));
  }
  line.ask(0, { operation: 'block', wait: 0 });
  return line;
}

test.each(Object.entries(ANCHORED))(
  '%s: a call waits until its own window delays no booking',
  (_, policy) => {
    const line = booked(policy, [20, 1], [28, 1], [30, 3]);
    // A window from 12 s on ends before 28 s. Another would begin there, too full for the three at 30 s.
    const first = seconds(18) + 1;
    for (const now of [seconds(12), seconds(18)]) {
      expect(line.ask(now, { operation: 'peek' })).toMatchObject({ allowed: false, wait: first - now });
    }
    expect(line.ask(first, { operation: 'peek' })).toMatchObject({ allowed: true });
    expect(line.ask(first, { operation: 'peek', cost: 2 })).toMatchObject({ wait: seconds(40) - first });
    expect(line.book(seconds(12))).toBe(first - seconds(12));
    expect(bookings(line.entries[0]).map(([at]) => at)).toEqual([
      first,
      seconds(20),
      seconds(28),
      seconds(30),
    ]);
  },
);

test.each(Object.entries(ANCHORED))(
  '%s: after a window has begun, a call waits until its own window delays no booking',
  (_, policy) => {
    const line = booked(policy, [10, 1], [27, 1], [34, 2], [38, 2]);
    // The bookings at 34 s and 38 s are too many for one window: only a window that begins after 24 s separates them.
    giveBack(line, 0, seconds(27));
    const first = seconds(24) + 1;
    for (const now of [seconds(12), seconds(20), seconds(24)]) {
      expect(line.ask(now, { operation: 'peek' })).toMatchObject({ allowed: false, wait: first - now });
    }
    expect(line.ask(first, { operation: 'peek' })).toMatchObject({ allowed: true });
  },
);

const RANDOM: Record<string, Policy> = {
  fixedWindow: fixedWindow({ limit: 5, window: '1s' }),
  slidingWindow: slidingWindow({ limit: 5, window: '1s' }),
  slidingLog: slidingLog({ limit: 5, window: '1s' }),
  tokenBucket: tokenBucket({ capacity: 5, refill: 5, every: '1s' }),
  batches: tokenBucket({ capacity: 5, refill: 3, every: '1s', mode: 'interval' }),
  leakyBucket: leakyBucket({ capacity: 5, leak: 5, every: '1s' }),
};

test.each(Object.entries(RANDOM))(
  '%s: in a random history, a booking is never moved and never lost',
  (name, policy) => {
    const below = randomFrom(7);
    const line = new Timeline(policy);
    let promised: [at: number, cost: number][] = [];
    const taken: [at: number, cost: number][] = [];
    let now = 0;
    for (let step = 0; step < 1_000; step += 1) {
      now += below(3) === 0 ? below(ms(400)) : 0;
      taken.push(...promised.filter(([at]) => at <= now));
      promised = promised.filter(([at]) => at > now);
      const cost = 1 + below(5);
      const kind = below(10);
      if (kind < 5) {
        const wait = line.book(now, cost, seconds(below(8)));
        if (wait !== undefined) (wait === 0 ? taken : promised).push([now + wait, cost]);
      } else if (kind < 7) {
        if (line.consume(now, cost)) taken.push([now, cost]);
      } else if (promised.length > 0) {
        const [booked] = promised.splice(below(promised.length), 1);
        giveBack(line, now, booked![0], booked![1]);
      }
      // Bookings of one moment are merged, so only their sum is compared.
      const sums = (pairs: [number, number][]) => {
        const sum = new Map<number, number>();
        for (const [at, permits] of pairs) sum.set(at, (sum.get(at) ?? 0) + permits);
        return [...sum].sort(([a], [b]) => a - b);
      };
      expect(sums(bookings(line.entries[0]).filter(([at]) => at > now))).toEqual(sums(promised));
    }
    if (name.startsWith('sliding')) {
      const sorted = taken.sort(([a], [b]) => a - b);
      for (const [end] of sorted) {
        const inside = sorted.filter(([at]) => at > end - seconds(1) && at <= end);
        expect(inside.reduce((sum, [, permits]) => sum + permits, 0)).toBeLessThanOrEqual(5);
      }
    }
  },
);

test('bookings of an ended override count under the policy until they expire there', () => {
  const line = new Timeline(slidingLog({ limit: 10, window: '5s' }));
  line.ask(0, { operation: 'override', wait: seconds(2), override: [1, ms(200)] });
  const waits = Array.from({ length: 10 }, () => line.book(0));
  expect(waits).toEqual(Array.from({ length: 10 }, (_, i) => ms(200 * i)));
  expect(line.ask(ms(5400), { operation: 'peek' }).parts[0]).toMatchObject({ remaining: 3 });
  expect(line.consume(ms(5400), 4)).toBe(false);
  expect(line.consume(ms(6800), 10)).toBe(true);
});
