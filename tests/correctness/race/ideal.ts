/** A limiter without storage, races or losses. Returns whether a call passes, and counts it if so. */
export type Ideal = (moment: number, cost: number) => boolean;

export function idealLog(limit: number, window: number): Ideal {
  const calls: { moment: number; cost: number }[] = [];
  let permits = 0;
  return (moment, cost) => {
    while (calls.length > 0 && calls[0]!.moment <= moment - window) permits -= calls.shift()!.cost;
    if (permits + cost > limit) return false;
    permits += cost;
    calls.push({ moment, cost });
    return true;
  };
}

/** With a level in units of 1 / every of a permit. */
export function idealBucket(capacity: number, refill: number, every: number): Ideal {
  let level = capacity * every;
  let seen = 0;
  return (moment, cost) => {
    level = Math.min(capacity * every, level + (moment - seen) * refill);
    seen = moment;
    if (level < cost * every) return false;
    level -= cost * every;
    return true;
  };
}

export function idealBatches(capacity: number, refill: number, every: number): Ideal {
  let level = capacity;
  let tick = 0;
  return (moment, cost) => {
    const ticks = Math.floor((moment - tick) / every);
    level = Math.min(capacity, level + ticks * refill);
    tick = level === capacity ? moment : tick + ticks * every;
    if (level < cost) return false;
    level -= cost;
    return true;
  };
}

export function idealWindows(limit: number, window: number, align: 'first-hit' | 'clock'): Ideal {
  let end = 0;
  let permits = 0;
  return (moment, cost) => {
    if (moment >= end) {
      end = (align === 'clock' ? moment - (moment % window) : moment) + window;
      permits = 0;
    }
    if (permits + cost > limit) return false;
    permits += cost;
    return true;
  };
}
