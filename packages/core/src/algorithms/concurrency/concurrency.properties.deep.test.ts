import fc from 'fast-check';
import { cases, runs } from '../../../../../tests/support/runs.js';
import type { State } from '../algorithm.js';
import { concurrencyAlgorithm } from './concurrency.js';

const { normalize, wait, take, refund } = concurrencyAlgorithm;
const acquireWait = concurrencyAlgorithm.booking!.acquireWait!;
const { last, join, renew, holderStatus, remainingWait, promote } = concurrencyAlgorithm.holders!;
const START = 1_700_000_000_000_000;

type Numbers = readonly number[];

interface Moment {
  readonly state: State | undefined;
  readonly now: number;
}

/** Short pauses, so that leases end at the same moment as other events. */
const steps = fc.array(
  fc.record({
    what: fc.constantFrom('come', 'come', 'come', 'release', 'renew', 'pass'),
    who: fc.nat(5),
    cost: fc.integer({ min: 1, max: 4 }),
    pause: fc.constantFrom(0, 0, 0, 1, 1, 3),
  }),
  { minLength: 10, maxLength: 40 },
);
const policies = fc.tuple(
  fc.integer({ min: 1, max: 4 }),
  fc.integer({ min: 2, max: 12 }),
  fc.integer({ min: 0, max: 9 }),
);

type Steps = typeof steps extends fc.Arbitrary<infer List> ? List : never;

const heldBy = (state: State | undefined) =>
  Array.from({ length: state?.[2] ?? 0 }, (_, i) => state!.slice(3 + 3 * i, 6 + 3 * i));
const held = (state: State | undefined) => heldBy(state).reduce((sum, [, , cost]) => sum + cost!, 0);
const ends = (state: State | undefined) => (state ?? []).filter((_, at) => at > 3 && at % 3 === 1);

/** Opens a loaded state as `decide.ts` does. */
function open(p: Numbers, { state, now }: Moment) {
  if (state === undefined || state[0]! <= now) return { state: undefined, granted: [] };
  return promote(p, normalize(p, state, now), now);
}

/** Plays the steps and shows `look` each moment. A call that cannot pass waits, unless the queue is full. */
function play(p: Numbers, list: Steps, look: (at: Moment) => void) {
  let now = START;
  let state: State | undefined;
  let line: number[] = [];
  const letIn = (granted: readonly number[]) => {
    for (const id of granted) {
      while (line.length > 0 && line[0] !== id && holderStatus(state!, line[0]!) < 0) line.shift(); // cancelled, or did not renew in time
      expect(line.shift()).toBe(id);
    }
  };
  for (const { what, who, cost, pause } of list) {
    now += pause;
    let opened = open(p, { state, now });
    state = opened.state;
    letIn(opened.granted);
    // Drops calls that were cancelled or did not renew. With leases this short, a later call may reuse the number.
    line = line.filter((waiter) => state !== undefined && holderStatus(state, waiter) >= 0);
    const ids = [...(state ?? [])].filter((_, at) => at >= 3 && at % 3 === 0);
    const id = ids[who % Math.max(1, ids.length)];
    if (what === 'come') {
      const before = state;
      const passes = wait(p, state, now, cost) === 0;
      if (passes) expect(line.filter((waiter) => state && holderStatus(state, waiter) === 0)).toEqual([]);
      if (passes) state = take(p, state, now, cost);
      else if (cost <= p[0]!) state = join(p, state, now, cost);
      if (!passes && state !== before) line.push(last(state!));
      if (state !== before) expect(ids.every((other) => other < last(state!))).toBe(true);
    } else if (state !== undefined && id !== undefined && what !== 'pass') {
      state = what === 'renew' ? renew(p, state, now, id) : refund(p, state, now, 1, id);
      opened = open(p, { state, now });
      state = opened.state;
      letIn(opened.granted);
    }
    look({ state, now });
  }
}

test('the limit is never exceeded, no waiting call is overtaken, and the state stays sorted', () => {
  fc.assert(
    fc.property(policies, steps, (p, list) =>
      play(p, list, ({ state, now }) => {
        expect(held(state)).toBeLessThanOrEqual(p[0]);
        const leases = heldBy(state).map(([, end]) => end!);
        expect(leases).toEqual([...leases].sort((a, b) => a - b));
        if (state === undefined) return;
        expect(state[0]).toBeGreaterThanOrEqual(Math.max(now + 1, ...ends(state)));
        expect(state[0]).toBeLessThanOrEqual(now + p[1]);
      }),
    ),
    runs(400),
  );
});

/** The state at `then` if no call is released, renewed (except `alive`) or cancelled, while waiting calls poll every µs. */
function silence(p: Numbers, { state, now }: Moment, then: number, alive = -1): State | undefined {
  let kept = state;
  for (let at = now; at <= then; at += 1) {
    kept = open(p, { state: kept, now: at }).state;
    if (kept !== undefined && holderStatus(kept, alive) === 0) kept = renew(p, kept, at, alive);
  }
  return kept;
}

test('a retry after acquireWait passes, and not 1 µs earlier, if no call releases, renews or cancels', () => {
  fc.assert(
    fc.property(policies, steps, (p, list) =>
      play(p, list, ({ state, now }) => {
        for (let cost = 1; cost <= p[0]; cost += 1) {
          const pause = acquireWait(p, state, now, cost);
          const then = now + pause;
          expect(pause).toBeLessThanOrEqual(2 * p[1]);
          // The estimate for a denial is never above the wait by leases, and 0 exactly when that is 0.
          expect(Math.sign(wait(p, state, now, cost))).toBe(Math.sign(pause));
          expect(wait(p, state, now, cost)).toBeLessThanOrEqual(pause);
          expect(acquireWait(p, silence(p, { state, now }, then), then, cost)).toBe(0);
          expect(acquireWait(p, open(p, { state, now: then }).state, then, cost)).toBe(0); // also if no call polls meanwhile
          if (pause > 0)
            expect(acquireWait(p, silence(p, { state, now }, then - 1), then - 1, cost)).toBeGreaterThan(0);
        }
      }),
    ),
    runs(200),
  );
});

test('a waiting call that renews is admitted after remainingWait, and not 1 µs earlier', () => {
  let seen = 0;
  fc.assert(
    fc.property(policies, steps, (p, list) =>
      play(p, list, ({ state, now }) => {
        for (let at = 3 + 3 * (state?.[2] ?? 0); at < (state?.length ?? 0); at += 3) {
          const id = state![at]!;
          const then = now + remainingWait(p, state!, now, id).wait;
          expect(holderStatus(silence(p, { state, now }, then, id)!, id)).toBe(1);
          expect(holderStatus(silence(p, { state, now }, then - 1, id)!, id)).toBe(0);
          seen += 1;
        }
      }),
    ),
    runs(400),
  );
  expect(seen).toBeGreaterThan(cases(400, 2_000));
});
