import { ANY, NEVER, type State } from '../algorithm.js';
import { slidingWindow, slidingWindowAlgorithm, slidingWindowKind } from './sliding-window.js';

const { normalize, wait, take, refund, usage } = slidingWindowAlgorithm;
const S = 1_000_000;
const LARGEST = Number.MAX_SAFE_INTEGER;
const rule = (limit: number, window: string, slots?: number) =>
  slidingWindowKind.compile(slidingWindow({ limit, window, ...(slots !== undefined && { slots }) }))
    .parameters;
/** The state after calls of cost 1, each at its second. */
const after = (parameters: readonly number[], ...at: number[]) =>
  at.reduce<State | undefined>((state, second) => take(parameters, state, second * S, 1), undefined)!;

describe('slidingWindow', () => {
  const three = rule(3, '10s', 5);

  test('with 3 per 10 s in slots of 2 s, a permit returns when its slot has left the window', () => {
    // Slots [2, 4) and [4, 6) have 2 permits and 1; they leave the window of 10 s at 14 and 16.
    const state = after(three, 3, 3.5, 5);
    expect(usage(three, after(three, 3), 3 * S)).toEqual({ remaining: 2, reset: 11 * S });
    expect(usage(three, state, 5 * S)).toEqual({ remaining: 0, reset: 11 * S });
    expect(wait(three, state, 6 * S, 1)).toBe(8 * S);
    expect(wait(three, state, 14 * S - 1, 1)).toBe(1);
    expect(usage(three, state, 14 * S)).toEqual({ remaining: 2, reset: 2 * S });
    expect([1, 2, 3, 4].map((cost) => wait(three, state, 14 * S, cost))).toEqual([0, 0, 2 * S, NEVER]);
    expect(wait(three, state, 6 * S, 0)).toBe(0);
  });

  test('more slots return permits sooner: after 20 s, 11 s, 10.1 s', () => {
    const resets = [1, 10, 100].map((slots) => {
      const parameters = rule(1, '10s', slots);
      return usage(parameters, after(parameters, 0), 0).reset / S;
    });
    expect(resets).toEqual([20, 11, 10.1]);
  });

  test('the state holds only the ends of slots with permits, and running counts', () => {
    expect(after(three, 3, 3.5, 9)).toEqual([20 * S, 0, 4 * S, 2, 10 * S, 3]);
    expect(take(three, after(three, 3, 3.5, 9), 14 * S, 1)).toEqual([26 * S, 2, 10 * S, 3, 16 * S, 4]);
  });

  test('a refund returns permits to the slot of their moment, up to its count', () => {
    const state = after(rule(9, '10s', 5), 3, 3.5, 5);
    const back = (cost: number, at: number, now = 8 * S) => refund(three, state, now, cost, at);
    expect(back(1, 2 * S)).toEqual([16 * S, 0, 4 * S, 1, 6 * S, 2]);
    expect(back(9, 3.5 * S)).toEqual([16 * S, 0, 6 * S, 1]);
    expect(back(1, 5 * S)).toEqual([14 * S, 0, 4 * S, 2]);
    expect(back(1, 6 * S)).toBe(state);
    expect(back(0, 3 * S)).toBe(state);
    expect(back(1, 3 * S, 14 * S)).toBe(state);
    expect(refund(three, after(three, 3), 4 * S, 1, 3 * S)).toBeUndefined();
  });

  test('a reward returns the latest permits, up to the number taken', () => {
    const state = after(rule(9, '10s', 5), 3, 3.5, 5, 5.5);
    const gift = (cost: number) => refund(three, state, 6 * S, cost, ANY);
    expect(gift(1)).toEqual([16 * S, 0, 4 * S, 2, 6 * S, 3]);
    expect(gift(3)).toEqual([14 * S, 0, 4 * S, 1]);
    expect([gift(4), gift(99)]).toEqual([undefined, undefined]);
  });

  test('a penalty can exceed the limit and saturates; a limit can be 2^53-1', () => {
    const fined = take(three, after(three, 3), 5 * S, 7);
    expect([usage(three, fined, 5 * S).remaining, wait(three, fined, 5 * S, 1)]).toEqual([0, 11 * S]);
    expect(take(three, fined, 7 * S, LARGEST)).toEqual([18 * S, 0, 8 * S, LARGEST]);

    const huge = rule(LARGEST, '10s');
    const state = take(huge, take(huge, undefined, 0, LARGEST - 1), 1 * S, 1);
    expect(usage(huge, state, 1 * S).remaining).toBe(0);
    expect(usage(huge, state, 11 * S).remaining).toBe(LARGEST - 1);
    expect(take(huge, state, 11 * S, 5)).toEqual([22 * S, LARGEST - 1, 2 * S, LARGEST, 12 * S, 4]);
    expect(usage(huge, take(huge, state, 11 * S, 5), 11 * S).remaining).toBe(LARGEST - 6);
  });

  test('after the clock goes back an hour, a key is denied for one window and a slot at most', () => {
    const state = after(three, 1, 3600, 3603);
    expect(normalize(three, state, 3603 * S)).toBe(state);
    const repaired = normalize(three, state, 5 * S);
    expect(repaired).toEqual([16 * S, 1, 6 * S, 3]);
    expect(normalize(three, repaired, 5 * S)).toBe(repaired);
  });

  test('after a change of slots, permits count until their own slot has left the new window', () => {
    const coarse = after(three, 1, 5, 5); // slots end at 2 and 6
    const fine = rule(3, '10s', 10);
    expect(normalize(fine, coarse, 5.5 * S)).toBe(coarse);
    expect(wait(fine, coarse, 5.5 * S, 1)).toBe(6.5 * S);
    // A new slot ends before the old one does: there was no permit after now, so it counts in now's slot.
    expect(normalize(rule(3, '10s', 100), coarse, 5 * S)).toEqual([15.1 * S, 0, 2 * S, 1, 5.1 * S, 3]);
    // Longer slots: nothing to convert. A call joins its own slot.
    const one = rule(5, '10s', 1);
    expect(take(one, normalize(one, coarse, 5 * S), 5 * S, 1)).toEqual([
      20 * S,
      0,
      2 * S,
      1,
      6 * S,
      3,
      10 * S,
      4,
    ]);
    // A moment from before the change no longer has a slot: its refund returns nothing instead of too much.
    const changed = normalize(one, coarse, 5 * S);
    expect(refund(one, changed, 5 * S, 1, 5 * S)).toBe(changed);
  });

  test('a changed limit or window applies to the stored state', () => {
    const state = after(three, 1, 3, 5);
    expect(usage(rule(2, '10s', 5), state, 5 * S).remaining).toBe(0);
    expect(wait(rule(2, '10s', 5), state, 5 * S, 1)).toBe(9 * S);
    const shorter = rule(3, '4s', 2);
    expect(normalize(shorter, state, 5 * S)).toEqual([10 * S, ...state.slice(1)]);
    expect(wait(shorter, normalize(shorter, state, 5 * S), 5 * S, 1)).toBe(1 * S);
  });

  test.each([
    [{ limit: -1, window: '1s' }, /limit must be a whole number from 0 .*, not -1/],
    [{ limit: 5, window: '1 s' }, /window must be a duration .* not "1 s"/],
    [{ limit: 5, window: '1s', slots: 0 }, /slots must be a whole number from 1 to 1000, not 0/],
    [{ limit: 5, window: '1s', slots: 1001 }, /not 1001/],
    [{ limit: 5, window: 0.005, slots: 6 }, /slots must be at most 5, the microseconds of the window, not 6/],
    [{ limit: 5, window: '3650d' }, /at most 3650 days together, not "3650d" with 10 slots/],
    [{ limit: 5, window: '1s', align: 'clock' }, /no option 'align'; its options are limit, window, slots/],
  ])('rejects the options %j', (options, message) => {
    expect(() => slidingWindow(options as never)).toThrow(message);
    expect(() => slidingWindowKind.compile({ algorithm: 'slidingWindow', ...options } as never)).toThrow(
      message,
    );
  });

  test('a policy is plain data, with ten slots by default or one per µs of a shorter window', () => {
    const policy = slidingWindow({ limit: 7, window: '1m' });
    expect(policy).toEqual({ algorithm: 'slidingWindow', limit: 7, window: 60_000, slots: 10 });
    expect(slidingWindowKind.compile(JSON.parse(JSON.stringify(policy)))).toEqual({
      algorithm: slidingWindowAlgorithm,
      parameters: [7, 60 * S, 6 * S],
      limit: 7,
      window: 60 * S,
    });
    expect(slidingWindow({ limit: 7, window: 0.003 }).slots).toBe(3);
    expect(rule(7, '1s', 3)).toEqual([7, 1 * S, 333_334]);
    expect(slidingWindowAlgorithm.figures.size(rule(7, '1s', 3))).toEqual({ limit: 7, window: 1 * S });
  });
});
