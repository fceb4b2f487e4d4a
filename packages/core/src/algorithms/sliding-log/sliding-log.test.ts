import { ANY, NEVER, type Policy, type State } from '../algorithm.js';
import { slidingLog, slidingLogAlgorithm, slidingLogKind } from './sliding-log.js';

const { normalize, wait, take, refund, usage } = slidingLogAlgorithm;
const S = 1_000_000;
const LARGEST = Number.MAX_SAFE_INTEGER;
const rule = (limit: number, window: string) =>
  slidingLogKind.compile(slidingLog({ limit, window })).parameters;
/** The state after calls of cost 1, each at its second. */
const after = (parameters: readonly number[], ...at: number[]) =>
  at.reduce<State | undefined>((state, second) => take(parameters, state, second * S, 1), undefined)!;

describe('slidingLog', () => {
  const two = rule(2, '10s');

  test('with 2 per 10 s, each permit returns exactly 10 s after it was taken', () => {
    const state = after(two, 3, 5);
    expect(usage(two, undefined, 3 * S)).toEqual({ remaining: 2, reset: 0 });
    expect(usage(two, after(two, 3), 3 * S)).toEqual({ remaining: 1, reset: 10 * S });
    expect(usage(two, state, 5 * S)).toEqual({ remaining: 0, reset: 10 * S });
    expect(wait(two, state, 6 * S, 1)).toBe(7 * S);
    expect(wait(two, state, 13 * S - 1, 1)).toBe(1);
    expect(wait(two, state, 13 * S, 1)).toBe(0);
    expect(usage(two, state, 13 * S)).toEqual({ remaining: 1, reset: 2 * S });
    expect(wait(two, state, 13 * S, 2)).toBe(2 * S);
  });

  test('1000 per 3 s admit at most 1000 in any 3 s, where a fixed window admits 1980', () => {
    const parameters = rule(1000, '3s');
    let state: State | undefined;
    const admitted = (from: number, calls: number) => {
      let count = 0;
      for (let now = from * S; now < from * S + calls; now += 1) {
        if (wait(parameters, state, now, 1) > 0) continue;
        state = take(parameters, state, now, 1);
        count += 1;
      }
      return count;
    };
    expect([admitted(0, 10), admitted(1, 10), admitted(2, 980)]).toEqual([10, 10, 980]);
    // 10 return 3 s after second 0 and 10 after second 1; the 980 of second 2 return at second 5.
    expect([admitted(3.01, 900), admitted(4, 100), admitted(4.5, 100)]).toEqual([10, 10, 0]);
    expect(admitted(5, 1)).toBe(1);
  });

  test('the state holds its expiry, the earlier count, then moments with running counts', () => {
    expect(after(two, 3, 5)).toEqual([15 * S, 0, 3 * S, 1, 5 * S, 2]);
    expect(take(two, after(two, 3, 5), 13 * S, 1)).toEqual([23 * S, 1, 5 * S, 2, 13 * S, 3]);
    expect(take(two, after(two, 3), 3 * S, 1)).toEqual([13 * S, 0, 3 * S, 2]);
  });

  test('several permits wait for enough of the oldest to return; a cost above the limit never passes', () => {
    const five = rule(5, '10s');
    const state = take(five, take(five, undefined, 0, 2), 1 * S, 3);
    expect([1, 2, 3, 5, 6].map((cost) => wait(five, state, 2 * S, cost))).toEqual([
      8 * S,
      8 * S,
      9 * S,
      9 * S,
      NEVER,
    ]);
    expect(wait(five, undefined, 0, 5)).toBe(0);
    expect(wait(five, undefined, 0, 6)).toBe(NEVER);
    expect(wait(five, state, 2 * S, 0)).toBe(0);
  });

  test('a refund returns permits taken at that moment, up to their number', () => {
    const state = after(rule(9, '10s'), 3, 5, 7);
    const back = (cost: number, at: number, now = 8 * S) => refund(two, state, now, cost, at);
    expect(back(1, 5 * S)).toEqual([17 * S, 0, 3 * S, 1, 7 * S, 2]);
    expect(back(9, 7 * S)).toEqual([15 * S, 0, 3 * S, 1, 5 * S, 2]);
    expect(back(1, 6 * S)).toBe(state);
    expect(back(0, 5 * S)).toBe(state);
    expect(back(1, 5 * S, 15 * S)).toBe(state);
    expect(refund(two, after(two, 3), 4 * S, 9, 3 * S)).toBeUndefined();
    expect(refund(two, after(two, 3, 9), 14 * S, 1, 9 * S)).toBeUndefined();
  });

  test('a reward returns the latest permits, up to the number taken', () => {
    const five = rule(5, '10s');
    const state = take(five, take(five, undefined, 3 * S, 3), 5 * S, 2);
    const gift = (cost: number, now = 6 * S) => refund(five, state, now, cost, ANY);
    expect(gift(1)).toEqual([15 * S, 0, 3 * S, 3, 5 * S, 4]);
    expect(gift(3)).toEqual([13 * S, 0, 3 * S, 2]);
    expect([gift(5), gift(6), gift(2, 14 * S)]).toEqual([undefined, undefined, undefined]);
    expect(usage(five, gift(3), 6 * S).remaining).toBe(3);
  });

  test('a penalty can exceed the limit, saturates, and can be refunded', () => {
    const fined = take(two, after(two, 3), 5 * S, 7);
    expect(usage(two, fined, 5 * S)).toEqual({ remaining: 0, reset: 10 * S });
    expect(wait(two, fined, 5 * S, 1)).toBe(10 * S);
    expect(usage(two, refund(two, fined, 6 * S, 7, 5 * S), 6 * S).remaining).toBe(1);

    const all = take(two, fined, 6 * S, LARGEST);
    expect(all).toEqual([16 * S, 0, 6 * S, LARGEST]);
    expect(take(two, all, 7 * S, 1)).toEqual([17 * S, 0, 7 * S, LARGEST]);
    expect(wait(two, all, 7 * S, 1)).toBe(9 * S);
  });

  test('penalties add no entries beyond the limit, and do not change waits', () => {
    const fined = after(two, 0, 1, 2, 3);
    expect(fined).toEqual([13 * S, 0, 2 * S, 3, 3 * S, 4]);
    expect([1, 2].map((cost) => wait(two, fined, 4 * S, cost))).toEqual([8 * S, 9 * S]);
    expect(usage(two, fined, 12 * S)).toEqual({ remaining: 1, reset: 1 * S });
  });

  test('after the clock goes back an hour, a key is denied for one window at most', () => {
    const state = after(two, 1, 3600, 3601);
    expect(normalize(two, state, 3601 * S)).toBe(state);
    const repaired = normalize(two, state, 20 * S);
    expect(repaired).toEqual([30 * S, 1, 20 * S, 3]);
    expect(normalize(two, repaired, 20 * S)).toBe(repaired);
    expect(wait(two, repaired, 20 * S, 1)).toBe(10 * S);
  });

  test('a changed limit or window applies to the stored state', () => {
    const state = after(rule(8, '1m'), 0, 10, 20, 30, 40, 50);
    expect(usage(rule(8, '1m'), state, 50 * S)).toEqual({ remaining: 2, reset: 60 * S });
    const stricter = rule(3, '1m');
    expect(usage(stricter, state, 50 * S).remaining).toBe(0);
    expect(wait(stricter, state, 50 * S, 1)).toBe((60 + 30 - 50) * S);
    const shorter = rule(3, '25s');
    expect(normalize(shorter, state, 50 * S)).toEqual([75 * S, ...state.slice(1)]);
    expect(wait(shorter, normalize(shorter, state, 50 * S), 50 * S, 1)).toBe((25 + 30 - 50) * S);
    const tiny = normalize(rule(3, '5s'), state, 56 * S);
    expect([usage(rule(3, '5s'), tiny, 56 * S), wait(rule(3, '5s'), tiny, 56 * S, 3)]).toEqual([
      { remaining: 3, reset: 0 },
      0,
    ]);
    expect(take(rule(3, '5s'), tiny, 56 * S, 1)).toEqual([61 * S, 6, 56 * S, 7]);
  });

  test.each([
    [{ limit: -1, window: '1s' }, /limit must be a whole number from 0 .*, not -1/],
    [{ limit: 1.5, window: '1s' }, /not 1.5/],
    [{ limit: '5', window: '1s' }, /not "5"/],
    [{ limit: 10_001, window: '1s' }, /limit must be at most 10000, not 10001: .* Use slidingWindow/],
    [{ limit: 5, window: 0 }, /window must be a duration .* not 0/],
    [{ limit: 5, window: '3651d' }, /not "3651d"/],
    [{ limit: 5, window: '1s', slots: 5 }, /no option 'slots'; its options are limit, window/],
    [undefined, /takes an options object/],
  ])('rejects the options %j', (options, message) => {
    expect(() => slidingLog(options as never)).toThrow(message);
    expect(() =>
      slidingLogKind.compile({ algorithm: 'slidingLog', ...options } as Policy as never),
    ).toThrow();
  });

  test('a policy is plain data, and compiles to limit and µs', () => {
    const policy = slidingLog({ limit: 10_000, window: '1.5s' });
    expect(policy).toEqual({ algorithm: 'slidingLog', limit: 10_000, window: 1500 });
    expect(slidingLogKind.compile(JSON.parse(JSON.stringify(policy)))).toEqual({
      algorithm: slidingLogAlgorithm,
      parameters: [10_000, 1_500_000],
      limit: 10_000,
      window: 1_500_000,
    });
    expect(slidingLogAlgorithm.figures.size([3, 7])).toEqual({ limit: 3, window: 7 });
  });
});
