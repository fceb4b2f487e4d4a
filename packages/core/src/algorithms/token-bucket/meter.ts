import { MAX_MICROS } from '../../duration.js';
import { type Algorithm, ANY, JITTER, type Left, NEVER, type State } from '../algorithm.js';
import { down, up } from '../arithmetic.js';
import { CELL_NUMBERS } from '../cell.js';

/**
 * Both permits and time are counted in units, so small that all numbers here are whole and every rate is exact: at 3 permits a
 * second a permit is 1,000,000 units, and 3 units flow back in a µs.
 */
export type MeterParameters = readonly [
  /** Units that pay for a permit. */
  perPermit: number,
  /** Units that flow back at each tick. */
  perTick: number,
  /** Units of a full bucket. */
  full: number,
  /** Units that may be missing beyond that: calls that go into debt. */
  borrow: number,
  /** Units that are missing from a bucket that is met for the first time. */
  start: number,
  /** `SPACED`: a call in `acquire` waits until all earlier permits have flowed back. `SAVED`: it may also cost more than the capacity. */
  shape: number,
  /** µs between two ticks: 1 is a steady flow, more are batches. */
  tick: number,
];

// Parameters are read by their places, `{ 1: perTick }`: V8 is slow at `[, perTick]`.

/** The questions that other algorithms may leave out have answers here. */
export type Meter = Algorithm & Required<Pick<Algorithm, 'see' | 'translate' | 'due' | 'longest' | 'more'>>;

const DAY = 86_400_000_000;

/** Values of `shape`. */
export const SPACED = 1;
export const SAVED = 2;

/** Of a bucket, that it may keep in reserve: one part in so many. */
const RESERVE = 10;

/**
 * A state is the list
 *
 *     [forgotten at, seen, since, late, whole at, span]
 *
 * as far as it is needed: without `late` when that is 0, without `whole at` when the state is forgotten at that moment, and
 * with `span` only when more is missing than calls alone can take.
 *
 * - whole at: the tick at which nothing is missing any more. Since then the last ticks are known too, `tick` apart.
 * - late: units that this tick brings and nobody misses.
 * - seen: the last write; of a clock that trembles, the latest moment it showed. A clock that shows less went back.
 * - since: the first take after the bucket was last whole. What was taken before has come back by itself.
 * - span: the `spanOf` the policy by which more was taken (a penalty). Under another policy it would be a lock-out.
 *
 * Moments, and not what is missing, are kept, because they mean the same under other parameters.
 */
const wholeAt = (state: State): number => state[4] ?? state[0]!;

/** Units that are missing. */
function debtAt(p: MeterParameters, state: State | undefined, now: number): number {
  const { 1: perTick, 4: start, 6: tick } = p;
  if (state === undefined) return start;
  const ahead = wholeAt(state) - now;
  return ahead > 0 ? Math.max(0, up(ahead, tick) * perTick - (state[3] ?? 0)) : 0;
}

/** The last tick until now. A whole bucket has none: its first will be one `tick` after it is used. */
function lastTick({ 6: tick }: MeterParameters, state: State | undefined, now: number): number {
  const ahead = state === undefined ? 0 : wholeAt(state) - now;
  return ahead > 0 ? now + ahead - up(ahead, tick) * tick : now;
}

/** µs from `now` until `cost` permits can go from a bucket in which `debt` units are missing. */
function waitFor(
  { 0: perPermit, 1: perTick, 2: full, 3: borrow, 6: tick }: MeterParameters,
  debt: number,
  last: number,
  now: number,
  cost: number,
): number {
  const price = cost * perPermit;
  if (price > full + borrow) return NEVER;
  if (cost === 0) return 0;
  // A call that borrows needs one permit that is there. Without borrowing the second of these is the smaller.
  const over = debt - Math.min(full - perPermit, full + borrow - price);
  return over > 0 ? last + up(over, perTick) * tick - now : 0;
}

/** Permits that are left when `debt` units are missing. */
const remainingWith = ({ 0: perPermit, 2: full, 3: borrow }: MeterParameters, debt: number): number =>
  debt > full - perPermit ? 0 : down(full + borrow - debt, perPermit);

/** µs in which all comes back that calls can take. */
const spanOf = ({ 1: perTick, 2: full, 3: borrow, 6: tick }: MeterParameters): number =>
  up(full + borrow, perTick) * tick;

/** The most units that may be missing: even after the correction of a jittering clock and rounding up to ticks it is below 2^53. */
export const exactDebt = (perTick: number, tick: number): number =>
  Number.MAX_SAFE_INTEGER - (up(JITTER, tick) + 2) * perTick;

/** The most that a penalty can take: what is exact, and back in ten years. */
const mostOf = ({ 1: perTick, 6: tick }: MeterParameters): number =>
  Math.min(exactDebt(perTick, tick), down(MAX_MICROS, tick) * perTick);

/**
 * The most units that calls can take. Calls take nothing from a bucket without capacity, so its state stays as it is and counts
 * again once the limit is open.
 */
const takenAtMost = (p: MeterParameters): number => (p[2] === 0 ? mostOf(p) : p[2] + p[3]);

/** The latest moment that the clock showed, which is `now` but for a clock that trembles. */
const seenAt = (state: State | undefined, now: number): number =>
  state === undefined ? now : Math.max(now, state[1]!);

function write(p: MeterParameters, seen: number, debt: number, since: number, last: number): State {
  const { 1: perTick, 2: full, 3: borrow, 4: start, 6: tick } = p;
  const ticks = up(debt, perTick);
  const late = ticks * perTick - debt;
  const whole = last + ticks * tick;
  // Forgotten when whole; but a key that would then begin with less stays known for a day, or as long as it takes to fill.
  const forgotten = start > 0 ? Math.max(whole, seen + Math.max(DAY, spanOf(p))) : whole;
  if (debt > full + borrow) return [forgotten, seen, since, late, whole, spanOf(p)];
  if (start > 0) return [forgotten, seen, since, late, whole];
  return late > 0 ? [forgotten, seen, since, late] : [forgotten, seen, since];
}

/** Does a call with this cost save up, because it is above the capacity? */
const isSaved = (p: MeterParameters, cost: number): boolean => p[5] === SAVED && cost * p[0] > p[2] + p[3];

/** The state after a call took `more` units. */
const grown = (p: MeterParameters, state: State | undefined, now: number, more: number): State => {
  const since = state !== undefined && debtAt(p, state, now) > 0 ? state[2]! : now;
  return write(p, seenAt(state, now), more, since, lastTick(p, state, now));
};

/**
 * What a refund is worth: its price, less what may have flowed back since. Only of the last taking that is known: nothing of it was
 * in vain. Of those before, others may have had what flowed back.
 */
function backOf(p: MeterParameters, state: State, now: number, cost: number, at: number): number {
  const price = cost * p[0];
  if (at === ANY || at === state[1]) return price;
  const ticks = up(Math.max(0, lastTick(p, state, now) - at), p[6]);
  return Math.max(0, price - ticks * p[1]);
}

/** The state as it would be had time stood still for `micros`. */
function delayed([forgotten, seen, since, late, whole, span]: State, micros: number): State {
  const before = (moment: number | undefined): number => Math.max(0, moment! - micros);
  const moments = [before(forgotten), before(seen), before(since)];
  if (whole === undefined) return late === undefined ? moments : [...moments, late];
  return [...moments, late!, before(whole), ...(span === undefined ? [] : [span])];
}

/**
 * One moment decides: when the bucket will be whole again (GCRA calls it the theoretical arrival time). The time until then is
 * what is missing now. tokenBucket, gcra and leakyBucket are this machine with different numbers.
 */
export const meterAlgorithm: Meter = {
  tag: 'tb',
  parameterNames: [
    'unitsOfPermit',
    'unitsPerTick',
    'unitsOfBucket',
    'unitsOfDebt',
    'missingAtFirst',
    'shapes',
    'tick',
  ],
  spends: true,

  size({ 0: perPermit, 1: perTick, 2: full, 3: borrow, 6: tick }: MeterParameters) {
    const limit = down(full + borrow, perPermit);
    return { limit, window: up(Math.max(1, limit) * perPermit, perTick) * tick };
  },

  see(p: MeterParameters, now) {
    const start = p[4];
    return start > 0 ? write(p, now, start, now, now) : undefined;
  },

  repair(p: MeterParameters, state, now) {
    const back = state[1]! - now;
    const kept = back > JITTER ? delayed(state, back) : state;
    const seen = seenAt(kept, now);
    const debt = debtAt(p, kept, seen);
    if (debt <= p[2] + p[3]) return kept;
    const most = kept[5] === spanOf(p) ? mostOf(p) : takenAtMost(p);
    return debt > most ? write(p, seen, most, kept[2]!, lastTick(p, kept, seen)) : kept;
  },

  wait: (p: MeterParameters, state, now, cost) =>
    waitFor(p, debtAt(p, state, now), lastTick(p, state, now), now, cost),

  step(p: MeterParameters, cell, now, cost) {
    const { numbers, at, length } = cell;
    const { 0: perPermit, 1: perTick, 2: full, 3: borrow, 4: start, 6: tick } = p;
    const ahead = numbers[at]! - now;
    const seen = numbers[at + 1]!;
    if (cost === 0 || start > 0 || length > CELL_NUMBERS || seen > now + JITTER) return false;
    const known = ahead > 0 ? up(ahead, tick) : 0;
    const last = now + Math.max(0, ahead) - known * tick;
    const debt = Math.max(0, known * perTick - (length > 3 ? numbers[at + 3]! : 0));
    if (debt > full + borrow) return false;
    const wait = waitFor(p, debt, last, now, cost);
    if (wait === NEVER) return false;
    const more = wait === 0 ? debt + cost * perPermit : debt;
    const ticks = up(more, perTick);
    if (wait === 0) {
      const late = ticks * perTick - more;
      numbers[at] = last + ticks * tick;
      numbers[at + 1] = Math.max(now, seen);
      if (debt === 0) numbers[at + 2] = now;
      numbers[at + 3] = late;
      cell.length = late > 0 ? 4 : 3;
    }
    cell.wait = wait;
    cell.remaining = remainingWith(p, more);
    cell.reset = more > 0 ? last + ticks * tick - now : 0;
    return true;
  },

  take(p: MeterParameters, state, now, cost): State {
    const more = debtAt(p, state, now) + cost * p[0];
    return grown(p, state, now, more > p[2] + p[3] ? Math.min(more, mostOf(p)) : more);
  },

  absorb(p: MeterParameters, state, now, cost): State {
    const debt = debtAt(p, state, now);
    return grown(p, state, now, Math.max(debt, Math.min(debt + cost * p[0], takenAtMost(p))));
  },

  give(p: MeterParameters, state, now, cost, at) {
    const since = state[2]!;
    const debt = debtAt(p, state, now);
    if (debt === 0 || cost === 0 || (at !== ANY && at < since)) return state;
    const back = backOf(p, state, now, cost, at);
    if (back === 0) return state;
    const left = Math.max(0, debt - back);
    return left === 0 && p[4] === 0
      ? undefined
      : write(p, seenAt(state, now), left, since, left === 0 ? now : lastTick(p, state, now));
  },

  left(p: MeterParameters, state, now): Left {
    const debt = debtAt(p, state, now);
    const reset = debt === 0 ? 0 : lastTick(p, state, now) + up(debt, p[1]) * p[6] - now;
    return { remaining: remainingWith(p, debt), reset };
  },

  // At `reset` nothing is missing, so the ticks until then equal the units missing now, rounded up to a tick. `remaining` gives them exactly.
  more({ 0: perPermit, 1: perTick, 2: full, 3: borrow, 6: tick }: MeterParameters, remaining, reset) {
    const bearable = Math.min(full - perPermit, full + borrow - (remaining + 1) * perPermit);
    if (bearable < 0) return reset;
    const ticks = up(reset, tick);
    const most = remaining > 0 ? full + borrow - remaining * perPermit : Number.POSITIVE_INFINITY;
    const needed = up(Math.max(0, Math.min(ticks * perTick, most) - bearable), perTick);
    return Math.max(0, reset - (ticks - needed) * tick);
  },

  // What is missing counts in permits: who took 100 has 900 left when he may take 1,000; and no more than a bucket is missing.
  translate(from: MeterParameters, to: MeterParameters, state, now) {
    const permits = up(debtAt(from, state, now), from[0]);
    return write(to, seenAt(state, now), Math.min(permits * to[0], takenAtMost(to)), state[2]!, now);
  },

  // Rounded down: what is left of the last µs stays in the debt, so a queue neither slows down nor shrinks at odd rates.
  due(p: MeterParameters, state, now, cost) {
    if (isSaved(p, cost)) {
      const debt = debtAt(p, state, now);
      if (cost * p[0] > mostOf(p) - debt) return NEVER;
      return lastTick(p, state, now) + up(debt + cost * p[0] - p[2] - p[3], p[1]) * p[6] - now;
    }
    const wait = meterAlgorithm.wait(p, state, now, cost);
    if (p[5] !== SPACED || wait === NEVER || cost === 0) return wait;
    return Math.max(wait, down(debtAt(p, state, now), p[1]));
  },

  saving(p: MeterParameters, cost) {
    return isSaved(p, cost) ? up(cost * p[0] - p[2] - p[3], p[1]) * p[6] : 0;
  },

  // All permits that flowed in during the wait were for this call, also those above the capacity: the bucket is empty after it.
  book(p: MeterParameters, state, now, cost): State {
    if (!isSaved(p, cost)) return meterAlgorithm.take(p, state, now, cost);
    return grown(p, state, now, Math.min(debtAt(p, state, now) + p[2] + p[3], mostOf(p)));
  },

  expandRun({ 0: perPermit, 1: perTick, 6: tick }: MeterParameters, cost, count, run, each) {
    let debt = run.owed;
    for (let i = 0; i < count; i += 1) {
      debt += cost * perPermit;
      each(run.remaining - i * cost, run.first + up(debt, perTick) * tick);
    }
  },

  anchored: ({ 6: tick }: MeterParameters) => tick > 1,

  longest({ 0: perPermit, 1: perTick, 2: full, 5: shape }: MeterParameters, cost) {
    return shape !== SPACED ? MAX_MICROS : Math.max(0, down(full - cost * perPermit, perTick));
  },

  // Those that go in a time t were taken in t + longest: a bucket that is smaller by what flows back meanwhile lets no more of them
  // go than the whole bucket does in t. Batches flow back all at once, and that would be the bucket; of what one call may borrow many would be made.
  ahead([perPermit, perTick, full, borrow, start, shape, tick]: MeterParameters, micros) {
    if (tick > 1 || borrow > 0) return undefined;
    const longest = Math.min(micros, down(down(full, RESERVE), perTick));
    const reserve = longest * perTick;
    const missing = Math.max(0, start - reserve);
    return { parameters: [perPermit, perTick, full - reserve, borrow, missing, shape, tick], longest };
  },
};
