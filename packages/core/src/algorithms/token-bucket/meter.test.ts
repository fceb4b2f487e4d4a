import fc from 'fast-check';
import { runs } from '../../../../../tests/support/runs.js';
import { MAX_MICROS } from '../../duration.js';
import { ANY, Cell, down, JITTER, type Parameters, type State, up } from '../algorithm.js';
import { meterAlgorithm } from './meter.js';
import { tokenBucket, tokenBucketKind } from './token-bucket.js';

const { normalize, wait, take, refund, usage } = meterAlgorithm;
const { size } = meterAlgorithm.figures;
const initialState = meterAlgorithm.initialState!;
const NOW = 1_735_689_600_000_000;

const policies = fc
  .record({
    capacity: fc.integer({ min: 1, max: 50 }),
    refill: fc.integer({ min: 1, max: 5000 }),
    every: fc.integer({ min: 1, max: 5_000 }),
    mode: fc.constantFrom('continuous' as const, 'interval' as const),
    borrow: fc.constantFrom(0, 0, 1, 7),
    initial: fc.nat(60),
  })
  .map((options) => ({ ...options, initial: Math.min(options.initial, options.capacity) }));

type Options = typeof policies extends fc.Arbitrary<infer T> ? T : never;
const parametersOf = (options: Options): Parameters =>
  tokenBucketKind.compile(tokenBucket(options)).parameters;

/** Opens a state as `decide.ts` does: expired states and new keys get the initial state, others are normalized. */
const open = (p: Parameters, state: State | undefined, now: number): State | undefined =>
  state !== undefined && state[0]! > now ? normalize(p, state, now) : initialState(p, now);

const steps = fc.array(fc.tuple(fc.nat(3_000_000), fc.integer({ min: 1, max: 3 })), { maxLength: 200 });

test('more permits return at the moment computed from remaining: never early, at most one tick late', () => {
  fc.assert(
    fc.property(policies, steps, (options, calls) => {
      const p = parametersOf(options);
      let now = NOW;
      let state: State | undefined;
      for (const [elapsed, cost] of calls) {
        now += elapsed;
        state = open(p, state, now);
        if (wait(p, state, now, cost) === 0) state = take(p, state, now, cost);
        const { remaining, reset } = usage(p, state, now);
        const exact = wait(p, state, now, remaining + 1);
        const more = meterAlgorithm.figures.more!(p, remaining, reset);
        if (exact === -1) expect(more).toBe(reset);
        // The last tick of a debt counts in full, so a call that has borrowed may see one tick more.
        else expect([0, p[6]]).toContain(more - exact);
      }
    }),
  );
});

test('admits exactly what a bucket in rational arithmetic admits, with exact waits', () => {
  fc.assert(
    fc.property(policies, steps, (options, calls) => {
      const p = parametersOf(options);
      // Permits × every, as a BigInt, so that a permit is `every` units and `refill` units flow in each µs.
      const every = BigInt(options.every * 1000);
      const full = BigInt(options.capacity) * every;
      const debt = BigInt(options.borrow) * every;
      let exact = BigInt(options.initial) * every;
      let ticked = NOW;
      let now = NOW;
      const flow = (until: number) => {
        if (exact === full) ticked = until;
        const passed =
          options.mode === 'continuous' ? BigInt(until - ticked) : (BigInt(until - ticked) / every) * every;
        ticked += Number(passed);
        exact += passed * BigInt(options.refill);
        if (exact >= full) [exact, ticked] = [full, until];
      };
      let state = initialState(p, now);
      for (const [step, wish] of calls) {
        now += step;
        const cost = Math.min(wish, options.capacity + options.borrow);
        const price = BigInt(cost) * every;
        const passes = () => exact >= every && exact + debt >= price;
        flow(now);
        // Without `initial` a full bucket is forgotten; with it, not within this test.
        state = open(p, state, now);
        const retry = wait(p, state, now, cost);
        const { remaining } = usage(p, state, now);
        expect(retry === 0).toBe(passes());
        expect(cost <= remaining).toBe(passes());
        if (retry > 0) {
          expect(wait(p, state, now + retry - 1, cost)).toBe(1);
          expect(wait(p, state, now + retry, cost)).toBe(0);
        } else {
          state = take(p, state, now, cost);
          exact -= price;
        }
      }
    }),
    runs(400),
  );
});

const histories = fc.array(
  fc.record({
    step: fc.oneof(fc.nat(100), fc.nat(3_000_000)),
    cost: fc.integer({ min: 1, max: 9 }),
    operation: fc.constantFrom('consume', 'consume', 'consume', 'return', 'reward'),
  }),
  { maxLength: 80 },
);

test('a span admits at most capacity + borrow + refill × time, plus the permits refunded in it', () => {
  fc.assert(
    fc.property(policies, histories, (options, history) => {
      const p = parametersOf(options);
      const { capacity, borrow, refill, every, mode } = options;
      const moves: { at: number; permits: number }[] = [];
      let now = NOW;
      let state: State | undefined;
      for (const { step, cost, operation } of history) {
        now += step;
        state = open(p, state, now);
        if (operation === 'consume') {
          if (wait(p, state, now, cost) !== 0) continue;
          state = take(p, state, now, cost);
          moves.push({ at: now, permits: cost });
        } else if (state !== undefined) {
          const at =
            operation === 'reward' ? ANY : (moves.filter(({ permits }) => permits > 0).at(-1)?.at ?? NOW);
          state = refund(p, state, now, cost, at);
          moves.push({ at: now, permits: -cost });
        }
      }
      for (let from = 0; from < moves.length; from++) {
        for (let to = from, sum = 0; to < moves.length; to++) {
          sum += moves[to]!.permits;
          const spans = (moves[to]!.at - moves[from]!.at) / (every * 1000);
          const flown = refill * (mode === 'interval' ? Math.ceil(spans) : spans);
          expect(sum).toBeLessThanOrEqual(capacity + borrow + flown + 1e-6);
        }
      }
    }),
    runs(300),
  );
});

test('after any calls, all numbers are safe integers and no state outlives ten years', () => {
  const move = fc.record({
    step: fc.oneof(fc.integer({ min: -4_000_000_000, max: 4_000_000_000 }), fc.nat(1000)),
    cost: fc.oneof(
      fc.integer({ min: 1, max: 9 }),
      fc.maxSafeNat().map((n) => n + 1 - (n % 2)),
    ),
    operation: fc.constantFrom('take', 'take', 'give'),
    policy: fc.nat(2),
  });
  fc.assert(
    fc.property(fc.tuple(policies, policies, policies), fc.array(move, { maxLength: 60 }), (all, moves) => {
      const rules = all.map(parametersOf);
      let now = NOW;
      let state: State | undefined;
      for (const { step, cost, operation, policy } of moves) {
        now = Math.max(1, now + step);
        const p = rules[policy]!;
        state = open(p, state, now);
        if (operation === 'take') state = take(p, state, now, Math.min(cost, Number.MAX_SAFE_INTEGER));
        else if (state !== undefined) state = refund(p, state, now, cost, ANY);
        for (const number of state ?? []) expect(Number.isSafeInteger(number) && number >= 0).toBe(true);
        expect(state?.[0] ?? 0).toBeLessThanOrEqual(now + JITTER + MAX_MICROS);
        const { remaining, reset } = usage(p, state, now);
        expect(remaining).toBeGreaterThanOrEqual(0);
        expect(remaining).toBeLessThanOrEqual(size(p).limit);
        expect(reset).toBeGreaterThanOrEqual(0);
      }
    }),
    runs(500),
  );
});

test('after a clock jump or a policy change, no call waits longer than a full refill', () => {
  fc.assert(
    fc.property(
      policies,
      policies,
      fc.integer({ min: -1e10, max: 1e7 }),
      fc.nat(80),
      (before, after, jump, calls) => {
        const old = parametersOf(before);
        let state: State | undefined = initialState(old, NOW);
        for (let i = 0; i < calls; i++) if (wait(old, state, NOW, 1) === 0) state = take(old, state, NOW, 1);
        const p = parametersOf(after);
        const now = NOW + jump;
        const repaired = open(p, state, now);
        const trembles = jump < 0 && jump >= -JITTER ? -jump : 0;
        expect(wait(p, repaired, now, 1)).toBeLessThanOrEqual(size(p).window + trembles);
        if (repaired !== undefined) expect(normalize(p, repaired, now)).toBe(repaired);
      },
    ),
    runs(1000),
  );
});

test('quotients are exact up to 2^53, also if they are nearly whole', () => {
  const most = Number.MAX_SAFE_INTEGER;
  const divisors = fc.oneof(fc.integer({ min: 1, max: 1_000 }), fc.integer({ min: 1, max: most }));
  const nearlyWhole = divisors.chain((b) =>
    fc
      .tuple(fc.integer({ min: 0, max: Math.floor(most / b) }), fc.integer({ min: -1, max: 1 }))
      .map(([quotient, off]): [number, number] => [Math.min(most, Math.max(0, quotient * b + off)), b]),
  );
  fc.assert(
    fc.property(fc.oneof(nearlyWhole, fc.tuple(fc.integer({ min: 0, max: most }), divisors)), ([a, b]) => {
      const [whole, rest] = [BigInt(a) / BigInt(b), BigInt(a) % BigInt(b)];
      expect(BigInt(down(a, b))).toBe(whole);
      expect(BigInt(up(a, b))).toBe(rest === 0n ? whole : whole + 1n);
    }),
    runs(5_000),
  );
});

test('the in-place step treats a bucket filled by a reward during clock jitter as new', () => {
  const p = parametersOf({ capacity: 3, refill: 1, every: 5, mode: 'continuous', borrow: 0, initial: 3 });
  const taken = take(p, undefined, NOW, 3);
  const state = refund(p, taken, NOW - 9_000, 4, ANY)!;
  const [whole, seen] = state;
  const now = NOW - 1_000;
  // It was full before the latest moment that the clock showed.
  expect(whole).toBeLessThanOrEqual(now);
  expect(seen).toBe(NOW);
  const cell = new Cell();
  cell.numbers = new Float64Array(8);
  cell.write(state);
  expect(meterAlgorithm.speed!.step!(p, cell, now, 1)).toBe(true);
  expect(cell.read()).toEqual(take(p, undefined, now, 1));
});
