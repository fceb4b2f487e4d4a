import type { BucketView } from '../../decision.js';
import { down, type Figures, JITTER, NEVER, type State, up } from '../algorithm.js';

/**
 * Permits and time are counted in units so small that all numbers are whole and every rate is exact: at 3 permits a second a permit is
 * 1,000,000 units, and 3 units flow back in a µs. Code reads parameters as `{ 1: perTick }`: in V8 `[, perTick]` is slow.
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
  /** Units that are missing from the bucket of a new key. */
  start: number,
  /** `SPACED`: a call in `acquire` waits until all earlier permits have flowed back. `SAVED`: it may also cost more than the capacity. */
  shape: number,
  /** µs between two ticks: 1 is a steady flow, more are batches. */
  tick: number,
];

/** Values of `shape`. */
export const SPACED = 1;
export const SAVED = 2;

const DAY = 86_400_000_000;

/**
 * A state is the list
 *
 *     [forgotten at, seen, since, late, whole at, span]
 *
 * as far as it is needed: without `late` when that is 0, without `whole at` when the state is forgotten at that moment, and
 * with `span` only when more is missing than calls alone can take.
 *
 * - whole at: the tick at which nothing is missing any more. Since then the last ticks are known too, `tick` apart.
 * - late: units that this tick brings beyond a full bucket.
 * - seen: the moment of the last write; if the clock trembles, the latest that it showed. A clock that shows less went back.
 * - since: the first call after the bucket was last full. Permits of earlier calls have come back by themselves.
 * - span: the `spanOf` the policy under which a penalty took more. Under another policy that debt would lock the key out.
 *
 * Moments mean the same under other parameters; missing units would not.
 */
const wholeAt = (state: State): number => state[4] ?? state[0]!;

/** Units that are missing. */
export function debtAt(p: MeterParameters, state: State | undefined, now: number): number {
  if (state === undefined) return p[4];
  const untilWhole = wholeAt(state) - now;
  return untilWhole > 0 ? Math.max(0, up(untilWhole, p[6]) * p[1] - (state[3] ?? 0)) : 0;
}

/** The last tick until now. A whole bucket has none: its first will be one `tick` after it is used. */
export function lastTick({ 6: tick }: MeterParameters, state: State | undefined, now: number): number {
  const untilWhole = state === undefined ? 0 : wholeAt(state) - now;
  return untilWhole > 0 ? now + untilWhole - up(untilWhole, tick) * tick : now;
}

/** The latest moment that the clock showed: `now`, unless it trembles. */
export const seenAt = (state: State | undefined, now: number): number =>
  state === undefined ? now : Math.max(now, state[1]!);

/** µs in which `units` flow back, from a tick on. */
export const flowTime = ({ 1: perTick, 6: tick }: MeterParameters, units: number): number =>
  up(units, perTick) * tick;

/** The most units that calls without a penalty can take. */
export const debtLimit = (p: MeterParameters): number => p[2] + p[3];

/** µs in which the most units that calls can take flow back. */
export const spanOf = (p: MeterParameters): number => flowTime(p, debtLimit(p));

/** The most units that may be missing: below 2^53 even after a clock that trembles, and rounded up to ticks. */
export const exactDebt = (perTick: number, tick: number): number =>
  Number.MAX_SAFE_INTEGER - (up(JITTER, tick) + 2) * perTick;

/** µs from `now` until `cost` permits can go from a bucket in which `debt` units are missing. */
export function waitWith(p: MeterParameters, debt: number, last: number, now: number, cost: number): number {
  const price = cost * p[0];
  if (price > debtLimit(p)) return NEVER;
  if (cost === 0) return 0;
  // A call that borrows needs one permit that is there. Without borrowing the second of these is the smaller.
  const over = debt - Math.min(p[2] - p[0], debtLimit(p) - price);
  return over > 0 ? last + flowTime(p, over) - now : 0;
}

/** Permits that are left when `debt` units are missing. */
export const remainingWith = (p: MeterParameters, debt: number): number =>
  debt > p[2] - p[0] ? 0 : down(debtLimit(p) - debt, p[0]);

export function write(p: MeterParameters, seen: number, debt: number, since: number, last: number): State {
  const ticks = up(debt, p[1]);
  const late = ticks * p[1] - debt;
  const whole = last + ticks * p[6];
  const starts = p[4] > 0;
  // Forgotten when whole; but a key that would then begin with less stays known for a day, or as long as it takes to fill.
  const forgotten = starts ? Math.max(whole, seen + Math.max(DAY, spanOf(p))) : whole;
  if (debt > debtLimit(p)) return [forgotten, seen, since, late, whole, spanOf(p)];
  if (starts) return [forgotten, seen, since, late, whole];
  return late > 0 ? [forgotten, seen, since, late] : [forgotten, seen, since];
}

/** The state after calls took it to `debt`. */
export function grown(p: MeterParameters, state: State | undefined, now: number, debt: number): State {
  const since = state !== undefined && debtAt(p, state, now) > 0 ? state[2]! : now;
  return write(p, seenAt(state, now), debt, since, lastTick(p, state, now));
}

const LATE = 3;
const SPAN = 5;

/** The state as if time had stopped for `micros`. */
export const delayed = (state: State, micros: number): State =>
  state.map((value, i) => (i === LATE || i === SPAN ? value : Math.max(0, value - micros)));

function meterView(p: MeterParameters, state: State | undefined, now: number): BucketView {
  const { 0: perPermit, 1: perTick, 2: full, 6: tick } = p;
  const debt = debtAt(p, state, now);
  const last = lastTick(p, state, now);
  return {
    kind: 'bucket',
    capacity: full / perPermit,
    level: (full - debt) / perPermit,
    perSecond: (perTick / perPermit / tick) * 1_000_000,
    nextBatch: tick > 1 && debt > 0 ? last + tick : undefined,
    fullAt: debt > 0 ? last + flowTime(p, debt) : now,
  };
}

export const meterFigures: Figures = {
  parameterNames: [
    'unitsOfPermit',
    'unitsPerTick',
    'unitsOfBucket',
    'unitsOfDebt',
    'missingAtFirst',
    'shapes',
    'tick',
  ],

  size(p: MeterParameters) {
    const limit = down(debtLimit(p), p[0]);
    return { limit, window: flowTime(p, Math.max(1, limit) * p[0]) };
  },

  view: meterView,

  // At `reset` nothing is missing, so the ticks until then equal the units missing now, rounded up to a tick. `remaining` gives them exactly.
  more({ 0: perPermit, 1: perTick, 2: full, 3: borrow, 6: tick }: MeterParameters, remaining, reset) {
    const bearable = Math.min(full - perPermit, full + borrow - (remaining + 1) * perPermit);
    if (bearable < 0) return reset;
    const ticks = Math.ceil(reset / tick);
    const most = remaining > 0 ? full + borrow - remaining * perPermit : Number.POSITIVE_INFINITY;
    const needed = Math.ceil(Math.max(0, Math.min(ticks * perTick, most) - bearable) / perTick);
    return Math.max(0, reset - (ticks - needed) * tick);
  },
};
