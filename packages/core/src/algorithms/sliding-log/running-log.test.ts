import fc from 'fast-check';
import { ANY, type State } from '../algorithm.js';
import { slidingWindowAlgorithm } from '../sliding-window/sliding-window.js';
import { slidingLogAlgorithm } from './sliding-log.js';

/** Moments (µs) from the start, and costs. Windows are short, so that all of them meet edges often. */
const calls = fc.array(fc.tuple(fc.nat(30), fc.integer({ min: 1, max: 4 })), { minLength: 1, maxLength: 60 });
const limits = fc.integer({ min: 1, max: 8 });
const windows = fc.integer({ min: 1, max: 100 });

/** Permits taken in (now - length, now]. */
const within = (taken: readonly [number, number][], now: number, length: number) =>
  taken.reduce((sum, [at, cost]) => sum + (at > now - length && at <= now ? cost : 0), 0);

describe.each([
  ['slidingLog', slidingLogAlgorithm, fc.constant(0)],
  ['slidingWindow', slidingWindowAlgorithm, fc.integer({ min: 1, max: 40 })],
])('%s, over random histories', (_, algorithm, slots) => {
  const { normalize, wait, take, refund, usage } = algorithm;

  test('the limit is never exceeded in any window; a denial needs a full window and slot', () => {
    fc.assert(
      fc.property(limits, windows, slots, calls, (limit, window, slot, history) => {
        const parameters = [limit, window, slot];
        const taken: [number, number][] = [];
        let state: State | undefined;
        let now = 1_000_000;
        for (const [pause, wish] of history) {
          now += pause;
          const cost = Math.min(wish, limit);
          const sooner = wait(parameters, state, now, cost);
          const { remaining, reset } = usage(parameters, state, now);
          expect(sooner === 0).toBe(cost <= remaining);
          expect(reset).toBe(state === undefined ? 0 : Math.max(0, state[0]! - now));
          if (slot === 0) expect(remaining).toBe(limit - within(taken, now, window));
          else expect(remaining).toBeGreaterThanOrEqual(limit - within(taken, now, window + slot));

          if (sooner > 0) {
            // A retry at the named moment passes, and a µs earlier it does not.
            expect(wait(parameters, state, now + sooner, cost)).toBe(0);
            expect(wait(parameters, state, now + sooner - 1, cost)).toBe(1);
            continue;
          }
          state = take(parameters, state, now, cost);
          expect(normalize(parameters, state, now)).toBe(state);
          taken.push([now, cost]);
        }
        for (const [at] of taken) {
          expect(within(taken, at, window)).toBeLessThanOrEqual(limit);
          expect(within(taken, at + window - 1, window)).toBeLessThanOrEqual(limit);
        }
      }),
    );
  });

  test('refunded permits can be taken again, and no others', () => {
    fc.assert(
      fc.property(windows, slots, calls, fc.nat(59), fc.boolean(), (window, slot, history, which, gift) => {
        const parameters = [1_000, window, slot];
        const taken: [number, number][] = [];
        let state: State | undefined;
        let now = 1_000_000;
        for (const [pause, cost] of history) {
          now += pause;
          state = take(parameters, state, now, cost);
          taken.push([now, cost]);
        }
        const [at, cost] = taken[which % taken.length]!;
        const before = usage(parameters, state, now).remaining;
        const given = refund(parameters, state!, now, cost, gift ? ANY : at);
        const counted = gift || algorithm.take(parameters, undefined, at, 1)[0]! > now;
        expect(usage(parameters, given, now).remaining).toBe(Math.min(1_000, before + (counted ? cost : 0)));
        if (!counted) expect(given).toBe(state);
      }),
    );
  });

  test('a state never has more entries than the limit, and each wait is as if all were kept', () => {
    fc.assert(
      fc.property(limits, windows, slots, calls, fc.nat(150), (limit, window, slot, history, later) => {
        let state: State | undefined;
        let all: State | undefined;
        let now = 1_000_000;
        for (const [pause, cost] of history) {
          now += pause;
          state = take([limit, window, slot], state, now, cost);
          all = take([1_000, window, slot], all, now, cost);
          expect(state.length).toBeLessThanOrEqual(2 + 2 * limit);
        }
        const parameters = [limit, window, slot];
        for (const moment of [now, now + later]) {
          expect(usage(parameters, state, moment)).toEqual(usage(parameters, all, moment));
          for (let cost = 0; cost <= limit + 1; cost += 1) {
            expect(wait(parameters, state, moment, cost)).toBe(wait(parameters, all, moment, cost));
          }
        }
      }),
    );
  });

  test('after the clock goes back or a policy changes, a key is denied for one window and slot at most', () => {
    fc.assert(
      fc.property(
        fc.tuple(limits, windows, slots),
        fc.tuple(limits, windows, slots),
        calls,
        fc.integer({ min: -500, max: 60 }),
        (before, parameters, history, jump) => {
          let state: State | undefined;
          let now = 1_000_000;
          for (const [pause, cost] of history) {
            now += pause;
            state = take(before, state, now, cost);
          }
          now += jump;
          const repaired = normalize(parameters, state!, now);
          expect(normalize(parameters, repaired, now)).toBe(repaired);
          const [limit, window, slot] = parameters;
          expect(wait(parameters, repaired, now, limit)).toBeLessThanOrEqual(window + slot);
          expect(repaired[0]).toBeLessThanOrEqual(now + window + slot);
          const next = take(parameters, repaired, now, 1);
          expect(next[0]).toBeLessThanOrEqual(now + window + slot);
        },
      ),
    );
  });
});
