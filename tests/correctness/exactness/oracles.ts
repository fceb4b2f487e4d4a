import type { Policy } from '../../../packages/core/src/algorithms/algorithm.js';
import {
  fixedWindow,
  gcra,
  leakyBucket,
  slidingLog,
  slidingWindow,
  tokenBucket,
} from '../../../packages/core/src/index.js';
import type { Random } from '../../support/random.js';

/** A policy, and its rule once more, written as plainly as can be. */
export interface Case {
  readonly policy: Policy;
  /** The largest cost worth asking for. */
  readonly most: number;
  /** µs: the usual pause between two calls, for which the limit is about used up. */
  readonly pace: number;
  /** Permits that could go at `now`. */
  left(now: number): number;
  take(now: number, cost: number): void;
  /**
   * Where windows or ticks begin with a call: the most that go within `span` µs. When that call is cancelled, others that
   * were promised a moment keep it, and the windows are not those of a rule that never knew it.
   */
  within?(span: number): number;
}

/** Permits remembered with the moment at which they come back. */
function returning(limit: number, backAt: (now: number) => number) {
  const queue: { back: number; cost: number }[] = [];
  let first = 0;
  let used = 0;
  return {
    left(now: number) {
      while (first < queue.length && queue[first]!.back <= now) {
        used -= queue[first]!.cost;
        first += 1;
      }
      if (first > 1_000) {
        queue.splice(0, first);
        first = 0;
      }
      return limit - used;
    },
    take(now: number, cost: number) {
      used += cost;
      queue.push({ back: backAt(now), cost });
    },
  };
}

/** Whole units: `perPermit` pay for a permit, `flow` come in at each tick, `tick` µs apart from the first take of a full bucket on. */
function bucket(full: number, borrow: number, perPermit: number, flow: number, tick: number) {
  let level = full;
  let last = 0;
  const fill = (now: number) => {
    if (level >= full) last = now;
    const ticks = Math.floor((now - last) / tick);
    level = Math.min(full, level + ticks * flow);
    last += ticks * tick;
    if (level >= full) last = now;
  };
  return {
    left(now: number) {
      fill(now);
      return level < perPermit ? 0 : Math.floor((level + borrow) / perPermit);
    },
    take(_now: number, cost: number) {
      level -= cost * perPermit;
    },
  };
}

const gcd = (a: number, b: number): number => (b === 0 ? a : gcd(b, a % b));

/** `refill` permits in `every` µs, in whole units. */
function units(refill: number, every: number) {
  const shared = gcd(every, refill);
  return { perPermit: every / shared, flow: refill / shared };
}

const between = (random: Random, least: number, most: number) => least + random(most - least + 1);

export const cases: Record<string, (random: Random) => Case> = {
  'fixedWindow, first hit': (random) => {
    const [limit, window] = [between(random, 1, 50), between(random, 1, 2_000_000)];
    let [end, used] = [0, 0];
    return {
      policy: fixedWindow({ limit, window: window / 1000 }),
      most: limit + 1,
      pace: window / limit,
      within: (span) => limit * (Math.floor(span / window) + 2),
      left: (now) => (now >= end ? limit : limit - used),
      take(now, cost) {
        if (now >= end) [end, used] = [now + window, 0];
        used += cost;
      },
    };
  },

  'fixedWindow, clock': (random) => {
    const [limit, window] = [between(random, 1, 50), between(random, 1, 2_000_000)];
    let [current, used] = [-1, 0];
    return {
      policy: fixedWindow({ limit, window: window / 1000, align: 'clock' }),
      most: limit + 1,
      pace: window / limit,
      left: (now) => (Math.floor(now / window) === current ? limit - used : limit),
      take(now, cost) {
        if (Math.floor(now / window) !== current) [current, used] = [Math.floor(now / window), 0];
        used += cost;
      },
    };
  },

  slidingLog: (random) => {
    const [limit, window] = [between(random, 1, 50), between(random, 1, 2_000_000)];
    return {
      policy: slidingLog({ limit, window: window / 1000 }),
      most: limit + 1,
      pace: window / limit,
      ...returning(limit, (now) => now + window),
    };
  },

  slidingWindow: (random) => {
    const [limit, slots] = [between(random, 1, 50), between(random, 1, 20)];
    const window = between(random, slots, 2_000_000);
    const slot = Math.ceil(window / slots);
    return {
      policy: slidingWindow({ limit, window: window / 1000, slots }),
      most: limit + 1,
      pace: window / limit,
      ...returning(limit, (now) => (Math.floor(now / slot) + 1) * slot + window),
    };
  },

  'tokenBucket, continuous': (random) => {
    const [capacity, refill, every] = [
      between(random, 1, 50),
      between(random, 1, 5_000),
      between(random, 1, 2_000_000),
    ];
    const borrow = random(3) === 0 ? between(random, 1, 20) : 0;
    const { perPermit, flow } = units(refill, every);
    return {
      policy: tokenBucket({ capacity, refill, every: every / 1000, borrow }),
      most: capacity + borrow + 1,
      pace: every / refill,
      ...bucket(capacity * perPermit, borrow * perPermit, perPermit, flow, 1),
    };
  },

  'tokenBucket, interval': (random) => {
    const [capacity, refill, every] = [
      between(random, 1, 50),
      between(random, 1, 20),
      between(random, 1, 2_000_000),
    ];
    const borrow = random(3) === 0 ? between(random, 1, 20) : 0;
    return {
      policy: tokenBucket({ capacity, refill, every: every / 1000, mode: 'interval', borrow }),
      most: capacity + borrow + 1,
      pace: every / refill,
      within: (span) => capacity + borrow + refill * Math.ceil(span / every),
      ...bucket(capacity, borrow, 1, refill, every),
    };
  },

  gcra: (random) => {
    const [limit, period, burst] = [
      between(random, 1, 5_000),
      between(random, 1, 2_000_000),
      between(random, 1, 50),
    ];
    const { perPermit, flow } = units(limit, period);
    return {
      policy: gcra({ limit, period: period / 1000, burst }),
      most: burst + 1,
      pace: period / limit,
      ...bucket(burst * perPermit, 0, perPermit, flow, 1),
    };
  },

  leakyBucket: (random) => {
    const [capacity, leak, every] = [
      between(random, 1, 50),
      between(random, 1, 5_000),
      between(random, 1, 2_000_000),
    ];
    const { perPermit, flow } = units(leak, every);
    return {
      policy: leakyBucket({ capacity, leak, every: every / 1000 }),
      most: capacity + 1,
      pace: every / leak,
      ...bucket(capacity * perPermit, 0, perPermit, flow, 1),
    };
  },
};
