import fc from 'fast-check';
import type { Policy } from '../../../packages/core/src/index.js';
import {
  concurrency,
  fixedWindow,
  gcra,
  leakyBucket,
  slidingLog,
  slidingWindow,
  tokenBucket,
  tokenBucketOfRate,
} from '../../../packages/core/src/index.js';

export const HOUR = 3_600_000_000;

/** Sometimes a closed limit. */
const openOr = (open: fc.Arbitrary<number>) =>
  fc.oneof({ weight: 20, arbitrary: open }, { weight: 1, arbitrary: fc.constant(0) });
const limit = openOr(fc.integer({ min: 1, max: 12 }));
/** ms */
const period = fc.oneof(fc.integer({ min: 1, max: 5_000 }), fc.integer({ min: 1, max: HOUR / 1000 }));
const amount = openOr(fc.integer({ min: 1, max: 3_000 }));
const every = fc.integer({ min: 1, max: 100_000 });
const capacity = openOr(fc.integer({ min: 1, max: 12 }));
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });

/** Leaves out what is not given, as a user would. */
const given = <T extends object>(options: T) =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as never;

/** Policies of every scale, from a permit a µs to one in days, of every kind. */
export const policies: Record<string, fc.Arbitrary<Policy>> = {
  'fixedWindow, first hit': fc.record({ limit, window: period }).map((o) => fixedWindow(o)),
  'fixedWindow, clock': fc
    .record({ limit, window: period })
    .map((o) => fixedWindow({ ...o, align: 'clock' })),
  'fixedWindow, calendar days': fc
    .record({ limit, timeZone: fc.constantFrom('Europe/Berlin', 'America/New_York', 'Asia/Kolkata') })
    .map((o) => fixedWindow({ ...o, window: '1d', align: 'clock' })),
  'fixedWindow, weeks and months': fc
    .record({
      limit,
      timeZone: fc.constantFrom('America/Sao_Paulo', 'Pacific/Apia', 'UTC'),
      windows: fc.constantFrom(
        { window: '1 week', anchor: 'wednesday' } as const,
        { window: '1 month', anchor: 31 } as const,
        { window: '3 months', anchor: '02-29' } as const,
      ),
    })
    .map(({ windows, ...o }) => fixedWindow({ ...o, ...windows })),
  slidingWindow: fc
    .record({ limit, window: period, slots: fc.integer({ min: 1, max: 12 }) })
    .map((o) => slidingWindow(o)),
  slidingLog: fc.record({ limit, window: period }).map((o) => slidingLog(o)),
  'tokenBucket, continuous': fc.oneof(
    fc
      .record({
        capacity,
        refill: amount,
        every,
        initial: optional(fc.constant(0)),
        borrow: optional(fc.integer({ min: 1, max: 5 })),
        waitBeyondCapacity: optional(fc.constant(true)),
      })
      .map((o) => tokenBucket(given(o))),
    fc
      .record({
        rate: fc.double({ min: 0.001, max: 5_000, noNaN: true }),
        burst: fc.double({ min: 0.01, max: 100, noNaN: true }),
      })
      .map(tokenBucketOfRate),
  ),
  'tokenBucket, interval': fc
    .record({
      capacity,
      refill: openOr(fc.integer({ min: 1, max: 20 })),
      every,
      initial: optional(fc.constant(1)),
      borrow: optional(fc.integer({ min: 1, max: 5 })),
      waitBeyondCapacity: optional(fc.constant(true)),
    })
    .map((o) =>
      tokenBucket(given({ ...o, mode: 'interval', initial: o.capacity === 0 ? undefined : o.initial })),
    ),
  gcra: fc.record({ limit: amount, period: every, burst: optional(capacity) }).map((o) => gcra(given(o))),
  leakyBucket: fc.record({ capacity, leak: amount, every }).map((o) => leakyBucket(o)),
  concurrency: fc
    .record({
      limit: openOr(fc.integer({ min: 1, max: 4 })),
      lease: fc.oneof(fc.integer({ min: 100, max: 1_000 }), fc.integer({ min: 1_000, max: 600_000 })),
      queue: fc.integer({ min: 1, max: 4 }),
    })
    .map((o) => concurrency(o)),
};
