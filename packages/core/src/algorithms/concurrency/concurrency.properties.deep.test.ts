import fc from 'fast-check';
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

/** Times are small, so that leases end together, and at the very moment of other things. */
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

/** What `decide.ts` does with whatever it loads. */
function open(p: Numbers, { state, now }: Moment) {
  if (state === undefined || state[0]! <= now) return { state: undefined, granted: [] };
  return promote(p, normalize(p, state, now), now);
}

/** Plays the steps; at each, `look` sees the moment. Who cannot go waits; who finds the queue full leaves. */
function play(p: Numbers, list: Steps, look: (at: Moment) => void) {
  let now = START;
  let state: State | undefined;
  let line: number[] = [];
  const letIn = (granted: readonly number[]) => {
    for (const id of granted) {
      while (line.length > 0 && line[0] !== id && holderStatus(state!, line[0]!) < 0) line.shift(); // gave up, or was silent for too long
      expect(line.shift()).toBe(id);
    }
  };
  for (const { what, who, cost, pause } of list) {
    now += pause;
    let opened = open(p, { state, now });
    state = opened.state;
    letIn(opened.granted);
    // Who gave up, or was silent for too long. With leases this short, another may come under the same number.
    line = line.filter((waiter) => state !== undefined && holderStatus(state, waiter) >= 0);
    const ids = [...(state ?? [])].filter((_, at) => at >= 3 && at % 3 === 0);
    const id = ids[who % Math.max(1, ids.length)];
    if (what === 'come') {
      const before = state;
      const goes = wait(p, state, now, cost) === 0;
      if (goes) expect(line.filter((waiter) => state && holderStatus(state, waiter) === 0)).toEqual([]);
      if (goes) state = take(p, state, now, cost);
      else if (cost <= p[0]!) state = join(p, state, now, cost);
      if (!goes && state !== before) line.push(last(state!));
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

test('never more than the limit is held, no waiting call is overtaken, and the state keeps its order', () => {
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
    { numRuns: 400 },
  );
});

/** The state at `then` if nobody releases, renews (but who is `alive`) or leaves, while waiting calls look every µs. */
function silence(p: Numbers, { state, now }: Moment, then: number, alive = -1): State | undefined {
  let kept = state;
  for (let at = now; at <= then; at += 1) {
    kept = open(p, { state: kept, now: at }).state;
    if (kept !== undefined && holderStatus(kept, alive) === 0) kept = renew(p, kept, at, alive);
  }
  return kept;
}

test('a retry after `acquireWait` is allowed, and not 1 µs earlier, if no call releases, renews or leaves', () => {
  fc.assert(
    fc.property(policies, steps, (p, list) =>
      play(p, list, ({ state, now }) => {
        for (let cost = 1; cost <= p[0]; cost += 1) {
          const pause = acquireWait(p, state, now, cost);
          const then = now + pause;
          expect(pause).toBeLessThanOrEqual(2 * p[1]);
          // The estimate for a denial is within the leases, and denies when they do.
          expect(Math.sign(wait(p, state, now, cost))).toBe(Math.sign(pause));
          expect(wait(p, state, now, cost)).toBeLessThanOrEqual(pause);
          expect(acquireWait(p, silence(p, { state, now }, then), then, cost)).toBe(0);
          expect(acquireWait(p, open(p, { state, now: then }).state, then, cost)).toBe(0); // nor if nobody looks
          if (pause > 0)
            expect(acquireWait(p, silence(p, { state, now }, then - 1), then - 1, cost)).toBeGreaterThan(0);
        }
      }),
    ),
    { numRuns: 200 },
  );
});

test('a waiting call that renews is admitted after `remainingWait`, and not 1 µs earlier', () => {
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
    { numRuns: 400 },
  );
  expect(seen).toBeGreaterThan(2_000);
});
