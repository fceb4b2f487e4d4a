import fc from 'fast-check';
import { ANY, NEVER, type Parameters, type State } from '../algorithm.js';
import {
  type FixedWindowOptions,
  fixedWindow,
  fixedWindowAlgorithm,
  fixedWindowKind,
} from './fixed-window.js';

const { normalize, wait, take, refund, usage } = fixedWindowAlgorithm;
/** 2025-01-01T00:00:00Z in µs: a full minute, hour and day. */
const START = 1_735_689_600_000_000;
const seconds = (value: number) => Math.round(value * 1_000_000);
const LARGEST = Number.MAX_SAFE_INTEGER;

/** One key as a store keeps it, called at moments of the test's choosing (µs after START). */
class Key {
  parameters: Parameters;
  state: State | undefined;

  constructor(options: FixedWindowOptions) {
    this.parameters = fixedWindowKind.compile(fixedWindow(options)).parameters;
  }

  /** Takes `cost` permits if they are free, and returns the wait: 0 if they were. */
  consume(at: number, cost = 1): number {
    this.#load(START + at);
    const due = wait(this.parameters, this.state, START + at, cost);
    if (due === 0 && cost > 0) this.take(at, cost);
    return due;
  }

  take(at: number, cost: number): void {
    this.#load(START + at);
    this.state = take(this.parameters, this.state, START + at, cost);
  }

  refund(at: number, cost: number, taken: number): void {
    this.#load(START + at);
    if (this.state === undefined) return;
    this.state = refund(this.parameters, this.state, START + at, cost, taken === ANY ? ANY : START + taken);
  }

  usage(at: number): { remaining: number; reset: number } {
    this.#load(START + at);
    return usage(this.parameters, this.state, START + at);
  }

  #load(now: number): void {
    if (this.state === undefined) return;
    this.state = this.state[0]! > now ? normalize(this.parameters, this.state, now) : undefined;
  }
}

describe('windows that begin with their first call', () => {
  test('with 2 per 10 s, a window lasts exactly from second 3 to second 13', () => {
    const key = new Key({ limit: 2, window: '10s' });
    expect(key.usage(0)).toEqual({ remaining: 2, reset: 0 });
    expect(key.consume(seconds(3))).toBe(0);
    expect(key.usage(seconds(3))).toEqual({ remaining: 1, reset: seconds(10) });
    expect(key.consume(seconds(5))).toBe(0);
    expect(key.usage(seconds(5))).toEqual({ remaining: 0, reset: seconds(8) });
    expect(key.consume(seconds(6))).toBe(seconds(7));
    expect(key.consume(seconds(13) - 1)).toBe(1);
    expect(key.consume(seconds(13))).toBe(0);
    expect(key.usage(seconds(13))).toEqual({ remaining: 1, reset: seconds(10) });
  });

  test('1000 per 3 s can admit 1980 calls between second 2 and second 4.5', () => {
    const key = new Key({ limit: 1000, window: '3s' });
    const admitted = (from: number, calls: number) =>
      Array.from({ length: calls }, (_, i) => key.consume(seconds(from) + i)).filter((due) => due === 0)
        .length;
    expect([admitted(0, 10), admitted(1, 10), admitted(2, 980)]).toEqual([10, 10, 980]);
    expect([admitted(3.01, 900), admitted(4, 100), admitted(4.5, 1)]).toEqual([900, 100, 0]);
  });

  test('a window of half a second is exact', () => {
    const key = new Key({ limit: 1, window: '500ms' });
    key.consume(0);
    expect([key.consume(seconds(0.5) - 1), key.consume(seconds(0.5))]).toEqual([1, 0]);
    expect(fixedWindow({ limit: 1, window: 1900 }).window).toBe(1900);
  });
});

describe('windows on the clock', () => {
  test('with 2 per minute, windows are full minutes, whenever the first call is made', () => {
    const key = new Key({ limit: 2, window: '1m', align: 'clock' });
    expect([key.consume(seconds(59)), key.consume(seconds(59.5)), key.consume(seconds(59.9))]).toEqual([
      0,
      0,
      seconds(0.1),
    ]);
    expect(key.usage(seconds(59.9))).toEqual({ remaining: 0, reset: seconds(0.1) });
    // 4 calls in 1.5 s, around the edge: twice the limit, and no more.
    expect([key.consume(seconds(60)), key.consume(seconds(60.5)), key.consume(seconds(60.5))]).toEqual([
      0,
      0,
      seconds(59.5),
    ]);
  });

  test('a window that does not divide an hour is aligned to the epoch', () => {
    const key = new Key({ limit: 1, window: '7s', align: 'clock' });
    key.consume(0);
    expect(key.state![0]! % seconds(7)).toBe(0);
    expect(key.state![0]! - START).toBeLessThanOrEqual(seconds(7));
  });
});

describe.each<[string, FixedWindowOptions]>([
  ['first-hit', { limit: 5, window: '10s' }],
  ['clock', { limit: 5, window: '10s', align: 'clock' }],
])('%s windows', (_, options) => {
  test('a cost is taken whole or not at all, one above the limit never passes, and 0 takes nothing', () => {
    const key = new Key(options);
    expect([key.consume(0, 0), key.state]).toEqual([0, undefined]);
    expect([key.consume(0, 4), key.consume(1, 2), key.consume(2, 6), key.consume(3, 1)]).toEqual([
      0,
      seconds(10) - 1,
      NEVER,
      0,
    ]);
    expect([key.consume(4, 1), key.consume(4, 0)]).toEqual([seconds(10) - 4, 0]);
  });

  test('a refund returns permits taken in this window, up to the limit', () => {
    const key = new Key(options);
    key.consume(0, 3);
    key.consume(seconds(2), 2);
    key.refund(seconds(3), 2, seconds(2));
    expect(key.usage(seconds(3))).toEqual({ remaining: 2, reset: seconds(7) });
    key.refund(seconds(4), 9, 0);
    expect(key.state).toBeUndefined();
  });

  test('a refund after the end of its window returns nothing', () => {
    const key = new Key(options);
    key.consume(0);
    key.refund(seconds(10), 1, 0);
    expect(key.state).toBeUndefined();
    key.consume(seconds(10));
    const { state } = key;
    key.refund(seconds(11), 1, 0);
    key.refund(seconds(11), 0, ANY);
    expect(key.state).toBe(state);
    key.refund(seconds(11), 1, ANY);
    expect(key.state).toBeUndefined();
  });

  test('a penalty of any size lasts until the end of the window', () => {
    const key = new Key(options);
    for (let i = 0; i < 3; i += 1) key.take(i, LARGEST);
    expect(key.state).toEqual([START + seconds(10), LARGEST]);
    expect(key.usage(3)).toEqual({ remaining: 0, reset: seconds(10) - 3 });
    expect([key.consume(3), key.consume(seconds(10))]).toEqual([seconds(10) - 3, 0]);
  });

  test('a retry after retryAfter passes, and not 1 µs earlier', () => {
    const moves = fc.array(fc.tuple(fc.nat(seconds(4)), fc.integer({ min: 1, max: 5 })), {
      minLength: 1,
      maxLength: 20,
    });
    const check = (history: [number, number][]) => {
      const key = new Key(options);
      let at = 0;
      for (const [move, cost] of history) {
        at += move;
        const before = key.state;
        const due = key.consume(at, cost);
        if (due === 0) continue;
        expect(key.state).toBe(before);
        expect(wait(key.parameters, key.state, START + at + due - 1, cost)).toBe(1);
        expect(wait(key.parameters, undefined, START + at + due, cost)).toBe(0);
        expect(key.state![0]).toBe(START + at + due);
      }
    };
    fc.assert(fc.property(moves, check));
  });

  test('after the clock goes back an hour, a key is denied for one window at most; normalize is stable', () => {
    const key = new Key(options);
    key.consume(seconds(3600), 5);
    expect(key.consume(seconds(1))).toBeLessThanOrEqual(seconds(10));
    expect(normalize(key.parameters, key.state!, START + seconds(1))).toBe(key.state);
    expect(key.consume(seconds(11))).toBe(0);
  });
});

describe('a state under another policy', () => {
  const meets = (from: FixedWindowOptions, to: FixedWindowOptions, at: number) => {
    const key = new Key(from);
    key.consume(seconds(7), 8);
    key.parameters = new Key(to).parameters;
    const due = key.consume(at);
    return [due, key.state![0]! - START, key.state![1]];
  };

  test('a lower limit counts permits already taken; a shorter window ends sooner', () => {
    expect(meets({ limit: 10, window: '1m' }, { limit: 5, window: '10s' }, seconds(8))).toEqual([
      seconds(10),
      seconds(18),
      8,
    ]);
  });

  test('a longer window keeps the stored end: no call waits longer than its retryAfter', () => {
    expect(meets({ limit: 8, window: '10s' }, { limit: 8, window: '1h' }, seconds(8))).toEqual([
      seconds(9),
      seconds(17),
      8,
    ]);
  });

  test('between first-hit and clock, a window keeps its end, or ends with the minute if that is sooner', () => {
    const hit: FixedWindowOptions = { limit: 8, window: '1m' };
    const clock: FixedWindowOptions = { ...hit, align: 'clock' };
    expect(meets(hit, clock, seconds(8))).toEqual([seconds(52), seconds(60), 8]);
    expect(meets(hit, clock, seconds(60))).toEqual([seconds(7), seconds(67), 8]);
    expect(meets(clock, hit, seconds(8))).toEqual([seconds(52), seconds(60), 8]);
  });
});
