import type { Random } from '../random.js';

/** Permits remembered with the moment at which they come back. */
export function returning(limit: number, backAt: (now: number) => number) {
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
export function bucket(full: number, borrow: number, perPermit: number, flow: number, tick: number) {
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
export function units(refill: number, every: number) {
  const shared = gcd(every, refill);
  return { perPermit: every / shared, flow: refill / shared };
}

export const between = (random: Random, least: number, most: number) => least + random(most - least + 1);
