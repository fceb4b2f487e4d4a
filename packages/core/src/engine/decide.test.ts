import { ms, START, seconds, Timeline } from '../../../../tests/support/timeline.js';
import { NEVER } from '../algorithms/algorithm.js';
import { concurrency } from '../algorithms/concurrency/concurrency.js';
import { fixedWindow } from '../algorithms/fixed-window/fixed-window.js';
import { gcra } from '../algorithms/gcra/gcra.js';
import { slidingLog } from '../algorithms/sliding-log/sliding-log.js';
import { tokenBucket } from '../algorithms/token-bucket/token-bucket.js';
import { isEnvelope } from './entry.js';

const tenASecond = tokenBucket({ capacity: 10, refill: 10, every: '1s' });
const twoIn10s = fixedWindow({ limit: 2, window: '10s' });

test('all parts are taken, or none', () => {
  const line = new Timeline(tenASecond, twoIn10s);
  expect(line.ask(0)).toMatchObject({ allowed: true, parts: [{ remaining: 9 }, { remaining: 1 }] });
  expect(line.ask(0)).toMatchObject({ allowed: true, parts: [{ remaining: 8 }, { remaining: 0 }] });
  expect(line.ask(0)).toMatchObject({
    allowed: false,
    wait: seconds(10),
    parts: [
      { remaining: 8, wait: 0 },
      { remaining: 0, wait: seconds(10) },
    ],
  });
  const { parts } = line.ask(0, { cost: 3 });
  expect(parts).toMatchObject([
    { remaining: 8, wait: 0 },
    { remaining: 0, wait: NEVER },
  ]);
});

test('the wait is the first moment at which all parts pass, not the longest wait of one', () => {
  // The window is free at 10 s. The log would be free at 6 s, but one more permit was taken then: it is free at 16 s.
  const line = new Timeline(
    fixedWindow({ limit: 2, window: '10s' }),
    slidingLog({ limit: 2, window: '10s' }),
  );
  line.ask(0);
  line.ask(seconds(6));
  expect(line.ask(seconds(6), { cost: 2 })).toMatchObject({
    allowed: false,
    wait: seconds(10),
    parts: [{ wait: seconds(4) }, { wait: seconds(10) }],
  });
  expect(line.book(seconds(6), 2)).toBe(seconds(10));
  // Both are booked for 16 s, although the window was free at 10 s: its earlier permits stay available.
  expect(line.entries.map((entry) => isEnvelope(entry!) && entry.queue)).toEqual([
    [START + seconds(16), 2],
    [START + seconds(16), 2],
  ]);
  expect(line.entries.map((entry) => isEnvelope(entry!) && entry.hasGaps)).toEqual([true, false]);
});

test('a call that waits for another part does not delay calls that fit before it', () => {
  const line = new Timeline(gcra({ limit: 10, period: '10s' }), twoIn10s);
  for (let calls = 0; calls < 2; calls += 1) line.ask(0);
  expect(line.book(0)).toBe(seconds(10));
  const shared = new Timeline(gcra({ limit: 10, period: '10s' }));
  shared.entries = [line.entries[0]];
  expect(shared.ask(0, { cost: 8, operation: 'peek' })).toMatchObject({ allowed: true });
  expect(shared.ask(0, { cost: 8 })).toMatchObject({ allowed: true, parts: [{ remaining: 0 }] });
  expect(shared.ask(seconds(10), { operation: 'peek' }).parts).toMatchObject([{ remaining: 9 }]);
});

test('a block delays calls and bookings of all parts until it ends', () => {
  const line = new Timeline(tenASecond, fixedWindow({ limit: 5, window: '10s' }));
  const block = { operation: 'block', wait: seconds(5) } as const;
  line.ask(0, block);
  expect(line.ask(0)).toMatchObject({
    allowed: false,
    wait: seconds(5),
    parts: [{ remaining: 0 }, { remaining: 0 }],
  });
  expect(line.book(0, 2)).toBe(seconds(5));
  expect(line.book(0, 2)).toBe(seconds(5));
  line.ask(ms(1), { operation: 'block', wait: 0 });
  // There is time before the delayed bookings now; four of the five permits belong to them.
  expect(line.ask(ms(1), { cost: 2 })).toMatchObject({ allowed: false });
  expect(line.ask(ms(1), { cost: 1 })).toMatchObject({ allowed: true });
});

test('a part that can never pass denies at once, whatever the other parts are', () => {
  const line = new Timeline(concurrency({ limit: 1 }), twoIn10s);
  expect(line.ask(0, { operation: 'acquire', wait: seconds(100), cost: 3 })).toMatchObject({
    allowed: false,
    queued: false,
    wait: NEVER,
  });
});

describe('held permits and a block', () => {
  const acquire = { operation: 'acquire', wait: seconds(1000) } as const;
  const renewed = (line: Timeline, now: number, at: number) => {
    const { allowed, queued, wait } = line.ask(now, { operation: 'renew', at });
    return { allowed, queued, wait };
  };

  test('a call to a blocked key waits in the queue, and is admitted when the block ends', () => {
    const line = new Timeline(concurrency({ limit: 1, lease: '1m' }));
    line.ask(0, { operation: 'block', wait: seconds(10) });
    const { queued, wait, parts } = line.ask(0, acquire);
    expect({ queued, wait }).toEqual({ queued: true, wait: seconds(10) });
    const { at } = parts[0]!;
    expect(renewed(line, seconds(4), at)).toEqual({ allowed: false, queued: true, wait: seconds(6) });
    expect(renewed(line, seconds(10), at)).toMatchObject({ allowed: true, queued: false });
  });

  test('a release during a block admits no call; unblocking does', () => {
    const line = new Timeline(concurrency({ limit: 1, lease: '1m' }));
    const holder = line.ask(0).parts[0]!.at;
    const waiter = line.ask(0, acquire).parts[0]!.at;
    line.ask(ms(1), { operation: 'block', wait: seconds(50) });
    line.ask(ms(2), { operation: 'refund', at: holder });
    expect(renewed(line, ms(3), waiter)).toMatchObject({ allowed: false, queued: true });
    line.ask(ms(4), { operation: 'block', wait: 0 });
    expect(renewed(line, ms(5), waiter)).toMatchObject({ allowed: true });
  });

  test('a lease still ends while its key is blocked', () => {
    const line = new Timeline(concurrency({ limit: 1, lease: '10s' }));
    const holder = line.ask(0).parts[0]!.at;
    line.ask(0, { operation: 'block', wait: seconds(60) });
    expect(renewed(line, seconds(5), holder)).toMatchObject({ allowed: true });
    expect(renewed(line, seconds(15), holder)).toMatchObject({ allowed: false, queued: false });
  });
});

test('a key with fewer initial permits keeps its state while a call waits longer than a day', () => {
  const both = new Timeline(
    tokenBucket({ capacity: 1, refill: 1, every: '1s', initial: 0 }),
    fixedWindow({ limit: 1, window: '3d' }),
  );
  expect(both.consume(0)).toBe(false);
  expect(both.consume(seconds(1))).toBe(true);
  const days = seconds(3 * 86_400);
  expect(both.book(seconds(2), 1, 2 * days)).toBe(days - seconds(1));
  expect(both.book(seconds(2), 1, 3 * days)).toBe(2 * days - seconds(1));
});
