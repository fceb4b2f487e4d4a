import { compilePolicy } from '../../../packages/core/src/algorithms/index.js';
import {
  concurrency,
  fixedWindow,
  gcra,
  leakyBucket,
  type Policy,
  slidingLog,
  slidingWindow,
  tokenBucket,
} from '../../../packages/core/src/index.js';

export const SECOND = 1_000_000;
export const HOUR = 3_600 * SECOND;
export const DAY = 24 * HOUR;
export const YEAR = 365 * DAY;

/** A policy, and what it promises while the clock is right. */
export interface Subject {
  readonly policy: Policy;
  /** µs: the longest after which every permit is back. */
  readonly window: number;
  /** µs: the longest TTL of a key. A bucket's key lasts up to twice as long as the bucket takes to fill. */
  readonly longestTtl: number;
  /** The most permits that go in a span of `span` µs, both of its ends included. */
  most(span: number): number;
}

export const LIMIT = 4;

const times = (window: number) => ({ window, longestTtl: window });

/** Windows that follow each other. `edges`: how many more of them a span can touch than lie in it completely. */
const windows = (policy: Policy, length: number, edges: number): Subject => ({
  ...times(Math.max(length, compilePolicy(policy).window)),
  policy,
  most: (span) => LIMIT * (Math.floor(span / length) + edges),
});

const bucket = (policy: Policy, most: (span: number) => number): Subject => {
  const { window } = compilePolicy(policy);
  return { policy, window, longestTtl: 2 * window, most };
};
const steady = (span: number) => LIMIT + Math.floor((LIMIT * span) / HOUR);

/**
 * Every algorithm in each of its modes, with 4 permits that are back in an hour (of days, in a day; of months, in a month): in Redis
 * nothing may expire by the server's own clock while a test runs.
 */
export const subjects: Readonly<Record<string, Subject>> = {
  'fixedWindow, first hit': windows(fixedWindow({ limit: LIMIT, window: '1h' }), HOUR, 1),
  'fixedWindow, clock': windows(fixedWindow({ limit: LIMIT, window: '1h', align: 'clock' }), HOUR, 2),
  'fixedWindow, calendar days': {
    ...windows(
      fixedWindow({ limit: LIMIT, window: '1d', align: 'clock', timeZone: 'Europe/Berlin' }),
      23 * HOUR,
      2,
    ),
    ...times(25 * HOUR),
  },
  'fixedWindow, calendar months': {
    ...windows(fixedWindow({ limit: LIMIT, window: '1 month', timeZone: 'Europe/Berlin' }), 28 * DAY, 2),
    ...times(31 * DAY + HOUR),
  },
  slidingWindow: {
    ...windows(slidingWindow({ limit: LIMIT, window: '1h' }), HOUR, 1),
    ...times(HOUR + HOUR / 10),
  },
  slidingLog: windows(slidingLog({ limit: LIMIT, window: '1h' }), HOUR, 1),
  'tokenBucket, continuous': bucket(tokenBucket({ capacity: LIMIT, refill: LIMIT, every: '1h' }), steady),
  'tokenBucket, interval': bucket(
    tokenBucket({ capacity: LIMIT, refill: 2, every: '30m', mode: 'interval' }),
    (span) => LIMIT + 2 * Math.ceil(span / (HOUR / 2)),
  ),
  'tokenBucket, borrow': bucket(tokenBucket({ capacity: 2, borrow: 2, refill: LIMIT, every: '1h' }), steady),
  // A bucket that begins with less than it holds is known for a day.
  'tokenBucket, initial': {
    ...bucket(tokenBucket({ capacity: LIMIT, initial: 1, refill: LIMIT, every: '1h' }), steady),
    longestTtl: DAY,
  },
  gcra: bucket(gcra({ limit: 8, period: '2h', burst: LIMIT }), steady),
  leakyBucket: bucket(leakyBucket({ capacity: LIMIT, leak: LIMIT, every: '1h' }), steady),
  // Nobody releases here: what is taken is held for a lease.
  concurrency: windows(concurrency({ limit: LIMIT, lease: '1h' }), HOUR, 1),
};

export const jumps: Readonly<Record<string, number>> = {
  'forward by 1 s': SECOND,
  'back by 1 s': -SECOND,
  'forward by 1 h': HOUR,
  'back by 1 h': -HOUR,
  'forward by 1 day': DAY,
  'back by 1 day': -DAY,
  'forward by 10 years': 10 * YEAR,
  'back by 10 years': -10 * YEAR,
};
