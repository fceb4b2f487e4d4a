import { MAX_MICROS } from '../../duration.js';
import {
  type Algorithm,
  ANY,
  type BookingFacet,
  down,
  JITTER,
  NEVER,
  type OverrideFacet,
  type PrefetchFacet,
  type Rule,
  type SpeedFacet,
  type State,
  up,
} from '../algorithm.js';
import {
  debtAt,
  debtLimit,
  delayed,
  exactDebt,
  flowTime,
  grown,
  lastTick,
  type MeterParameters,
  meterFigures,
  remainingWith,
  SAVED,
  SPACED,
  seenAt,
  spanOf,
  waitWith,
  write,
} from './meter-state.js';

/** At most this part of a bucket, 1 in 10, is kept in reserve for prefetched permits. */
const RESERVE = 10;

/** The most units that a penalty can take: exact, and back in ten years. */
const mostOf = ({ 1: perTick, 6: tick }: MeterParameters): number =>
  Math.min(exactDebt(perTick, tick), down(MAX_MICROS, tick) * perTick);

/**
 * The most units that calls can take. Calls take nothing from a bucket without capacity, so its state stays as it is and counts
 * again once the limit is open.
 */
const takenAtMost = (p: MeterParameters): number => (p[2] === 0 ? mostOf(p) : debtLimit(p));

/** Must a call with this cost save up, because it is above the capacity? */
const isSaved = (p: MeterParameters, cost: number): boolean => p[5] === SAVED && cost * p[0] > debtLimit(p);

/**
 * Units that a refund gives back: the price of its permits, less the units that may have flowed back for them since. Nothing has flowed
 * back for the latest call; later calls may have used what flowed back for earlier ones.
 */
function backOf(p: MeterParameters, state: State, now: number, cost: number, at: number): number {
  const price = cost * p[0];
  if (at === ANY || at === state[1]) return price;
  const ticks = up(Math.max(0, lastTick(p, state, now) - at), p[6]);
  return Math.max(0, price - ticks * p[1]);
}

const refundSince: Algorithm['refund'] = (p: MeterParameters, state, now, cost, at) => {
  const debt = debtAt(p, state, now);
  if (debt === 0 || cost === 0) return state;
  const back = backOf(p, state, now, cost, at);
  if (back === 0) return state;
  const left = Math.max(0, debt - back);
  if (left === 0 && p[4] === 0) return undefined;
  return write(p, seenAt(state, now), left, state[2]!, left === 0 ? now : lastTick(p, state, now));
};

function take(p: MeterParameters, state: State | undefined, now: number, cost: number): State {
  const debt = debtAt(p, state, now) + cost * p[0];
  return grown(p, state, now, debt > debtLimit(p) ? Math.min(debt, mostOf(p)) : debt);
}

const booking: BookingFacet = {
  // Rounded down: the rest of the last µs stays in the debt, so a queue neither slows down nor shrinks at odd rates.
  acquireWait(p: MeterParameters, state, now, cost) {
    const debt = debtAt(p, state, now);
    const last = lastTick(p, state, now);
    if (isSaved(p, cost)) {
      if (cost * p[0] > mostOf(p) - debt) return NEVER;
      return last + flowTime(p, debt + cost * p[0] - debtLimit(p)) - now;
    }
    const wait = waitWith(p, debt, last, now, cost);
    return p[5] !== SPACED || wait === NEVER || cost === 0 ? wait : Math.max(wait, down(debt, p[1]));
  },

  saving: (p: MeterParameters, cost) => (isSaved(p, cost) ? flowTime(p, cost * p[0] - debtLimit(p)) : 0),

  // All permits that flowed in during the wait were for this call, also those above the capacity: the bucket is empty after it.
  book(p: MeterParameters, state, now, cost): State {
    if (!isSaved(p, cost)) return take(p, state, now, cost);
    return grown(p, state, now, Math.min(debtAt(p, state, now) + debtLimit(p), mostOf(p)));
  },

  anchored: ({ 6: tick }: MeterParameters) => tick > 1,

  maxWait({ 0: perPermit, 1: perTick, 2: full, 5: shape }: MeterParameters, cost) {
    return shape !== SPACED ? MAX_MICROS : Math.max(0, down(full - cost * perPermit, perTick));
  },
};

const override: OverrideFacet = {
  absorb(p: MeterParameters, state, now, cost): State {
    const debt = debtAt(p, state, now);
    return grown(p, state, now, Math.max(debt, Math.min(debt + cost * p[0], takenAtMost(p))));
  },

  // The missing permits count: after 100 were taken, 900 are left of 1,000. At most a whole bucket is missing.
  translate(from: MeterParameters, to: MeterParameters, state, now) {
    const permits = up(debtAt(from, state, now), from[0]);
    return write(to, seenAt(state, now), Math.min(permits * to[0], takenAtMost(to)), state[2]!, now);
  },
};

const prefetch: PrefetchFacet = {
  // Permits used in a time t were taken in t + longest: a bucket that is smaller by what flows back in `longest` allows no more of them than
  // the whole bucket allows in t. A batch flows back all at once, so nothing would be left; and many calls would borrow instead of one.
  narrow([perPermit, perTick, full, borrow, start, shape, tick]: MeterParameters, micros) {
    if (tick > 1 || borrow > 0) return undefined;
    const longest = Math.min(micros, down(down(full, RESERVE), perTick));
    const reserve = longest * perTick;
    const missing = Math.max(0, start - reserve);
    return { parameters: [perPermit, perTick, full - reserve, borrow, missing, shape, tick], longest };
  },
};

const speed: SpeedFacet = {
  step(p: MeterParameters, cell, now, cost) {
    const { numbers, at, length } = cell;
    const { 0: perPermit, 1: perTick, 4: start, 6: tick } = p;
    const seen = numbers[at + 1]!;
    if (cost === 0 || start > 0 || seen > now + JITTER) return false;
    const untilWhole = Math.max(0, numbers[at]! - now);
    const missed = up(untilWhole, tick);
    const last = now + untilWhole - missed * tick;
    const debt = untilWhole === 0 ? 0 : Math.max(0, missed * perTick - (length > 3 ? numbers[at + 3]! : 0));
    const wait = waitWith(p, debt, last, now, cost);
    if (wait === NEVER || debt > debtLimit(p)) return false;
    const after = wait === 0 ? debt + cost * perPermit : debt;
    const ticks = up(after, perTick);
    if (wait === 0) {
      numbers[at] = last + ticks * tick;
      // A state that has ended counts no more, nor does its `seen`, which is later if the clock trembled.
      numbers[at + 1] = untilWhole === 0 ? now : Math.max(now, seen);
      if (debt === 0) numbers[at + 2] = now;
      numbers[at + 3] = ticks * perTick - after;
      cell.length = numbers[at + 3]! > 0 ? 4 : 3;
    }
    cell.wait = wait;
    cell.remaining = remainingWith(p, after);
    cell.reset = after > 0 ? last + ticks * tick - now : 0;
    return true;
  },

  expandRun(p: MeterParameters, cost, count, run, each) {
    let debt = run.owed;
    for (let i = 0; i < count; i += 1) {
      debt += cost * p[0];
      each(run.remaining - i * cost, run.first + flowTime(p, debt));
    }
  },
};

/**
 * One moment decides: when the bucket will be whole again (GCRA calls it the theoretical arrival time). The time until then is
 * the permits missing now. tokenBucket, gcra and leakyBucket are this machine with different numbers.
 */
export const meterAlgorithm: Algorithm = {
  tag: 'tb',
  normalize(p: MeterParameters, state, now) {
    const back = state[1]! - now;
    const kept = back > JITTER ? delayed(state, back) : state;
    const seen = seenAt(kept, now);
    const debt = debtAt(p, kept, seen);
    if (debt <= debtLimit(p)) return kept;
    const most = kept[5] === spanOf(p) ? mostOf(p) : takenAtMost(p);
    return debt > most ? write(p, seen, most, kept[2]!, lastTick(p, kept, seen)) : kept;
  },

  wait: (p: MeterParameters, state, now, cost) =>
    waitWith(p, debtAt(p, state, now), lastTick(p, state, now), now, cost),

  take,

  // The bucket has been full since `at`: what was taken then has flowed back.
  refund: (p: MeterParameters, state, now, cost, at) =>
    at !== ANY && at < state[2]! ? state : refundSince(p, state, now, cost, at),

  // Part of it may have been taken after that. What was taken before is less than what has flowed back since `at`, which is not given back.
  refundSince,

  usage(p: MeterParameters, state, now) {
    const debt = debtAt(p, state, now);
    const reset = debt === 0 ? 0 : lastTick(p, state, now) + flowTime(p, debt) - now;
    return { remaining: remainingWith(p, debt), reset };
  },

  initialState: (p: MeterParameters, now) => (p[4] > 0 ? write(p, now, p[4], now, now) : undefined),

  figures: meterFigures,
  booking,
  override,
  prefetch,
  speed,
};

/** The numbers of a token bucket, a GCRA or a leaky bucket. */
export interface MeterNumbers {
  /** The policy and its numbers, as an error names them. */
  readonly policy: string;
  /** Permits in a full bucket. 0 closes the limit, and so does a refill of 0. */
  readonly capacity: number;
  /** Permits that flow back during `every`, and what that is in µs. */
  readonly refill: number;
  readonly every: number;
  /** Do they all flow back at its end? Default: no, steadily. */
  readonly inBatches?: boolean;
  /** Permits that may be taken beyond the capacity. Default 0. */
  readonly borrow?: number | undefined;
  /** Permits in the bucket of a new key. Default `capacity`. */
  readonly initial?: number | undefined;
  /** Does `acquire` space calls out, or save up for a cost above the capacity? Default: neither. */
  readonly acquires?: 'spaced' | 'saved' | undefined;
}

const divisor = (a: number, b: number): number => (b === 0 ? a : divisor(b, a % b));

/** @throws RangeError when the numbers are beyond exact arithmetic */
export function meterRule(numbers: MeterNumbers): Rule {
  const { policy, every, inBatches, acquires } = numbers;
  const closed = numbers.capacity === 0 || numbers.refill === 0;
  const capacity = closed ? 0 : numbers.capacity;
  const refill = closed ? Math.max(1, numbers.refill) : numbers.refill;
  const { borrow = 0, initial = capacity } = closed ? {} : numbers;
  const shared = divisor(every, refill);
  const perPermit = inBatches ? 1 : every / shared;
  const perTick = inBatches ? refill : refill / shared;
  const tick = inBatches ? every : 1;
  const full = Math.round(capacity * perPermit);
  const debt = borrow * perPermit;
  if (full + debt > exactDebt(perTick, tick) || up(full + debt, perTick) * tick > MAX_MICROS) {
    throw new RangeError(
      `${policy} is beyond exact numbers (2^53 units, or 3650 days to fill): use a smaller bucket or a rounder rate`,
    );
  }
  const shape = acquires === 'spaced' ? SPACED : acquires === 'saved' && !closed ? SAVED : 0;
  const start = initial === capacity ? 0 : full - initial * perPermit;
  const parameters: MeterParameters = [perPermit, perTick, full, debt, start, shape, tick];
  return { algorithm: meterAlgorithm, parameters, ...meterAlgorithm.figures.size(parameters) };
}
