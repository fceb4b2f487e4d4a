/** One admitted call of a key, as Redis saw it. Moments are µs. */
export interface Admitted {
  readonly moment: number;
  readonly cost: number;
  /** When every permit is back, by the call's answer; for a fixed window, its end. */
  readonly whole: number;
}

/**
 * Checks the admitted calls of one key, in order. Returns the first violation, if any. A call whose answer was lost may have been
 * admitted and is missing here: that is no violation.
 */
export type Judge = (calls: readonly Admitted[]) => string | undefined;

/** Never more than `limit` permits in any window of this length. */
export const inAnyWindow =
  (limit: number, window: number): Judge =>
  (calls) => {
    let permits = 0;
    let first = 0;
    for (const { moment, cost } of calls) {
      permits += cost;
      for (; calls[first]!.moment <= moment - window; first += 1) permits -= calls[first]!.cost;
      if (permits > limit) return `${permits} of ${limit} permits in the ${window} µs until ${moment}`;
    }
    return undefined;
  };

/**
 * Never more than `capacity + refill × t / every` permits in any span of length t. In whole numbers, and without looking
 * at each pair of calls: `(taken until j) × every - refill × (moment of j)`, less the same until before i, must not exceed
 * `capacity × every`. So it is enough to check the call i for which the term is smallest.
 */
export const inAnySpan =
  (capacity: number, refill: number, every: number): Judge =>
  (calls) => {
    const start = calls[0]?.moment ?? 0;
    let taken = 0;
    let smallest = Number.POSITIVE_INFINITY;
    for (const { moment, cost } of calls) {
      const inflow = refill * (moment - start);
      smallest = Math.min(smallest, taken * every - inflow);
      taken += cost;
      const most = taken * every - inflow - smallest;
      if (!Number.isSafeInteger(most)) throw new RangeError('the race was too long for exact numbers');
      if (most > capacity * every) return `${most / every} of ${capacity} permits missing at ${moment}`;
    }
    return undefined;
  };

/** Windows of the clock: never more than `limit` permits from one multiple of `window` to the next. */
export const inClockWindows =
  (limit: number, window: number): Judge =>
  (calls) => {
    const ends = calls.map((call) => ({ ...call, whole: call.moment - (call.moment % window) + window }));
    return inNamedWindows(limit, window)(ends);
  };

/**
 * Windows that begin with their first call: each call is in the window that its answer names by its end, no two of
 * them overlap, and none has more than `limit` permits. (The call that began a window may be one whose answer was lost.)
 */
export const inNamedWindows =
  (limit: number, window: number): Judge =>
  (calls) => {
    let end = 0;
    let permits = 0;
    for (const { moment, cost, whole } of calls) {
      if (moment < whole - window || moment >= whole) return `${moment} is not in the window until ${whole}`;
      if (whole !== end) {
        if (whole - window < end)
          return `the window until ${whole} begins before the one until ${end} is over`;
        end = whole;
        permits = 0;
      }
      permits += cost;
      if (permits > limit) return `${permits} of ${limit} permits in the window until ${end}`;
    }
    return undefined;
  };

/**
 * A bucket that gets `refill` permits at each tick, `every` apart. Answers name the ticks: the bucket is full at one of them. Other
 * ticks may only follow after it was full.
 */
export const inBatches =
  (capacity: number, refill: number, every: number): Judge =>
  (calls) => {
    let level = capacity;
    let tick = 0;
    let full = 0;
    for (const { moment, cost, whole } of calls) {
      const last = whole - Math.ceil((whole - moment) / every) * every;
      if ((last - tick) % every === 0) level = Math.min(capacity, level + ((last - tick) / every) * refill);
      else if (moment >= full) level = capacity;
      else return `other ticks at ${moment}, before the bucket was whole at ${full}`;
      tick = last;
      full = whole;
      level -= cost;
      if (level < 0) return `${-level} permits more at ${moment} than there were`;
    }
    return undefined;
  };
