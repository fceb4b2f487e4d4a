import { ms, START, seconds, Timeline } from '../../../../../tests/support/timeline.js';
import { NEVER } from '../algorithm.js';
import { fixedWindow } from './fixed-window.js';

const line = (limit: number, window: string) => new Timeline(fixedWindow({ limit, window }));

describe('fixedWindow', () => {
  test('2 per 10 s: the window begins with the first call and ends 10 s later to the µs', () => {
    const key = line(2, '10s');
    expect(key.ask(seconds(3))).toMatchObject({ allowed: true, remaining: 1, wait: 0, reset: seconds(10) });
    expect(key.ask(seconds(5))).toMatchObject({ allowed: true, remaining: 0, wait: 0, reset: seconds(8) });
    expect(key.ask(seconds(6))).toMatchObject({ allowed: false, remaining: 0, wait: seconds(7) });
    expect(key.consume(seconds(13) - 1)).toBe(false);
    expect(key.ask(seconds(13))).toMatchObject({ allowed: true, remaining: 1, reset: seconds(10) });
  });

  test('the boundary burst of the seeds: 1000 per 3 s lets 1980 through between second 3 and second 5', () => {
    const key = line(1000, '3s');
    const admitted = (from: number, calls: number) =>
      Array.from({ length: calls }, (_, i) => key.consume(seconds(from) + i)).filter(Boolean).length;
    expect([admitted(0, 10), admitted(1, 10), admitted(2, 980)]).toEqual([10, 10, 980]);
    expect([admitted(3.01, 900), admitted(4, 100), admitted(4.5, 1)]).toEqual([900, 100, 0]);
  });

  test('a cost is taken whole or not at all, and one above the limit never passes', () => {
    const key = line(5, '1s');
    expect(key.ask(0, { cost: 4 })).toMatchObject({ allowed: true, remaining: 1 });
    expect(key.ask(1, { cost: 2 })).toMatchObject({ allowed: false, remaining: 1, wait: seconds(1) - 1 });
    expect(key.ask(2, { cost: 6 })).toMatchObject({ allowed: false, remaining: 1, wait: NEVER });
    expect(key.consume(3, 1)).toBe(true);
  });

  test('a cost of 0 and a peek change nothing, a denial keeps the very state', () => {
    const key = line(1, '1s');
    expect(key.ask(0, { cost: 0 })).toMatchObject({ allowed: true, remaining: 1, state: undefined });
    expect(key.ask(0, { operation: 'peek' })).toMatchObject({
      allowed: true,
      remaining: 1,
      state: undefined,
    });
    key.consume(0);
    const { state } = key;
    expect(key.ask(5)).toMatchObject({ allowed: false });
    expect(key.state).toBe(state);
  });

  test('bookings fill the windows ahead in order, and a timeout too short books nothing', () => {
    const key = line(2, '10s');
    const waits = [0, 0, 1, 2, 3].map((at) => key.book(seconds(at)).wait);
    expect(waits).toEqual([0, 0, seconds(9), seconds(8), seconds(17)]);
    expect(key.book(seconds(4), 1, seconds(15)).allowed).toBe(false);
    expect(key.book(seconds(4), 1, seconds(16)).wait).toBe(seconds(16));
    expect(key.ask(seconds(12))).toMatchObject({ allowed: false, remaining: 0, wait: seconds(18) });
    expect(key.ask(seconds(30))).toMatchObject({ allowed: true, remaining: 1 });
  });

  test('an abort returns a booking, also when its window becomes empty', () => {
    const key = line(1, '10s');
    key.consume(0);
    const booking = key.book(seconds(1));
    expect(booking.wait).toBe(seconds(9));
    key.ask(seconds(2), { operation: 'refund', at: START + seconds(10) });
    expect(key.book(seconds(3)).wait).toBe(seconds(7));
  });

  test('a refund that comes after its window gives nothing and makes no key', () => {
    const key = line(2, '1s');
    key.ask(seconds(5), { operation: 'refund', at: START });
    expect(key.state).toBeUndefined();
    key.consume(seconds(6));
    expect(key.ask(seconds(6) + 1, { operation: 'refund', at: START }).remaining).toBe(1);
    expect(key.ask(seconds(6) + 2, { operation: 'refund', cost: 5, at: START + seconds(6) }).remaining).toBe(
      2,
    );
  });

  test('a clock that goes back an hour locks out for one window at most, with bookings too', () => {
    const key = line(1, '10s');
    key.consume(seconds(3600));
    expect(key.ask(0)).toMatchObject({ allowed: false, wait: seconds(10) });
    expect(key.consume(seconds(10))).toBe(true);

    const booked = line(1, '10s');
    booked.book(seconds(3600));
    booked.book(seconds(3600));
    expect(booked.ask(0)).toMatchObject({ allowed: false, wait: seconds(20) });
    expect(booked.consume(seconds(20))).toBe(true);
  });

  test('changed limits meet the old state: neither forgotten nor a lock-out', () => {
    const key = line(10, '1m');
    for (let i = 0; i < 8; i += 1) key.consume(i);
    const stricter = line(5, '10s');
    stricter.state = key.state;
    expect(stricter.ask(10)).toMatchObject({ allowed: false, remaining: 0 });
    expect(stricter.consume(10 + seconds(10))).toBe(true);
  });

  test.each([
    [{ limit: 0, window: '1s' }, /limit must be a whole number from 1 to 9007199254740991, not 0/],
    [{ limit: 1.5, window: '1s' }, /not 1.5/],
    [{ limit: Number.NaN, window: '1s' }, /not NaN/],
    [{ limit: '5', window: '1s' }, /not "5"/],
    [{ limit: 5, window: 0 }, /window must be a duration .* not 0/],
    [{ limit: 5, window: '-3 min' }, /not "-3 min"/],
    [{ limit: 5, window: '30s1m' }, /not "30s1m"/],
    [{ limit: 5, window: Number.POSITIVE_INFINITY }, /not Infinity/],
    [{ limit: 5, window: '1s', max: 5 }, /no option 'max'; its options are limit, window/],
    [undefined, /takes an options object/],
  ])('refuses %j', (options, message) => {
    expect(() => fixedWindow(options as never)).toThrow(message);
  });

  test('half-second windows and finer are exact', () => {
    const key = line(1, '500ms');
    key.consume(0);
    expect(key.consume(ms(500) - 1)).toBe(false);
    expect(key.consume(ms(500))).toBe(true);
    expect(fixedWindow({ limit: 1, window: 1900 }).window).toBe(1900);
  });
});
