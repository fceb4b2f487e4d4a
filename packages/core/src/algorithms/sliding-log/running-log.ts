import type { LogView } from '../../decision.js';
import {
  type Algorithm,
  ANY,
  down,
  expandWindowRun,
  NEVER,
  type Parameters,
  type State,
} from '../algorithm.js';

const { MAX_SAFE_INTEGER: LARGEST } = Number;
const TURN = LARGEST + 1;

/** A state without pairs. */
const NOTHING: State = [0, 0];

/**
 * The algorithm behind `slidingLog` and `slidingWindow`: a list of the moments at which permits were taken. The two differ in precision:
 * `stamp` returns the moment that is stored for permits taken at `at`, and never an earlier one. A log stores `at` itself. A window
 * with slots stores the end of the slot that contains `at`.
 *
 * State: pairs (moment in µs, running count of permits up to and with it), in order of moments. Pair 0 is no entry: it holds the moment at
 * which the state expires (the newest moment + window), and the count before pair 1. The permits of any pairs in a row are the difference
 * of two counts, so the permits in the window are one subtraction, and the moment when the k-th leaves is a binary search. Dropping
 * pairs at the front changes no other number.
 *
 * Counts are modulo 2^53: differences stay exact, however long a key lives.
 *
 * Parameters: [limit, window (µs)], and with slots the slot length (µs). Slots begin at multiples of that length since 1970.
 */
export function runningLog(tag: string): Algorithm {
  return {
    tag,

    figures: {
      parameterNames: ['limit', 'window', 'slot'],
      size: ([limit, window]) => ({ limit: limit!, window: window! }),
      view: logView,
    },

    // Moments later than now count as now: the clock went back, or slots were longer. Under another window the state ends at another moment.
    normalize(parameters, state, now) {
      const newest = Math.min(momentOf(state, lastOf(state)), stamp(parameters, now));
      const end = newest + parameters[1]!;
      if (newest === momentOf(state, lastOf(state)) && end === state[0]) return state;
      const kept = firstAfter(state, newest - 1);
      return [end, ...state.slice(1, 2 * kept), newest, countOf(state, lastOf(state))];
    },

    wait({ 0: limit, 1: window }, state, now, cost) {
      if (cost === 0) return 0;
      if (cost > limit!) return NEVER;
      if (state === undefined) return 0;
      const first = firstAfter(state, now - window!);
      const over = usedFrom(state, first) - (limit! - cost);
      return over <= 0 ? 0 : momentOf(state, reaching(state, first, over)) + window! - now;
    },

    take: (parameters, state, now, cost) => taken(parameters, state, now, cost, false),

    refund(parameters, state, now, cost, at) {
      const window = parameters[1]!;
      const first = firstAfter(state, now - window);
      if (cost === 0) return state;
      if (at === ANY) {
        const rest = usedFrom(state, first) - cost;
        if (rest <= 0) return undefined;
        const last = reaching(state, first, rest);
        const count = plus(countOf(state, first - 1), rest);
        return [momentOf(state, last) + window, ...state.slice(1, 2 * last + 1), count];
      }

      // Moments later than now count as now: see `normalize`.
      const moment = stamp(parameters, Math.min(at, now));
      const pair = firstAfter(state, moment - 1);
      if (pair < first || pair > lastOf(state) || momentOf(state, pair) !== moment) return state;
      const back = Math.min(cost, minus(countOf(state, pair), countOf(state, pair - 1)));
      return without(state, window, first, pair, back);
    },

    // Once permits of that moment have left the window, an unknown part of all has come back by itself.
    refundSince(parameters, state, now, cost, at) {
      const window = parameters[1]!;
      const moment = stamp(parameters, at);
      const pair = firstAfter(state, moment - 1);
      if (cost === 0 || moment <= now - window || pair > lastOf(state)) return state;
      const back = Math.min(cost, usedFrom(state, pair));
      return without(state, window, firstAfter(state, now - window), pair, back);
    },

    usage({ 0: limit, 1: window }, state, now) {
      const used = state === undefined ? 0 : usedFrom(state, firstAfter(state, now - window!));
      if (state === undefined || used === 0) return { remaining: limit!, reset: 0 };
      return { remaining: Math.max(0, limit! - used), reset: momentOf(state, lastOf(state)) + window! - now };
    },

    booking: {
      // The margin of the next booking counts from the moment at which its permits came back, so pairs that have left the window are needed.
      book: (parameters, state, now, cost) => taken(parameters, state, now, cost, true),
    },

    speed: { expandRun: expandWindowRun },
  };
}

function logView(
  { 0: limit, 1: window, 2: slot = 0 }: Parameters,
  state: State = NOTHING,
  now: number,
): LogView {
  const entries: { at: number; permits: number }[] = [];
  const first = firstAfter(state, now - window!);
  for (let pair = first; pair <= lastOf(state); pair += 1) {
    entries.push({
      at: momentOf(state, pair),
      permits: minus(countOf(state, pair), countOf(state, pair - 1)),
    });
  }
  return { kind: 'log', limit: limit!, used: usedFrom(state, first), window: window!, slot, entries };
}

export const endOfSlot = (slot: number, at: number): number => (down(at, slot) + 1) * slot;

const stamp = ({ 2: slot }: Parameters, at: number): number => (slot ? endOfSlot(slot, at) : at);

const momentOf = (state: State, pair: number): number => state[2 * pair]!;
const countOf = (state: State, pair: number): number => state[2 * pair + 1]!;
const lastOf = (state: State): number => state.length / 2 - 1;

const plus = (a: number, b: number): number => (b <= LARGEST - a ? a + b : b - (LARGEST - a) - 1);
const minus = (a: number, b: number): number => (b <= a ? a - b : a - b + TURN);

/** @param keeps pairs that have left the window, as far as there is room */
function taken(
  parameters: Parameters,
  state: State = NOTHING,
  now: number,
  cost: number,
  keeps: boolean,
): State {
  const { 0: limit, 1: window } = parameters;
  const first = firstAfter(state, now - window!);
  const last = lastOf(state);
  let moment = stamp(parameters, now);
  // Penalties beyond exact numbers: all permits count as taken now.
  if (cost > LARGEST - usedFrom(state, first)) return [moment + window!, 0, moment, LARGEST];

  const joins = first <= last && momentOf(state, last) >= moment;
  if (joins) moment = momentOf(state, last);
  const end = joins ? last - 1 : last;
  // More pairs than permits in the limit (a penalty, or a lowered limit): no call is allowed before the oldest of the latest `limit`
  // pairs leaves. So older permits count as part of it, and memory is bounded.
  const from = Math.max(keeps ? 1 : first, end - limit! + 2);
  const next = state.slice(2 * (from - 1), 2 * (end + 1));
  next[0] = moment + window!;
  next[1] = countOf(state, Math.min(first, from) - 1);
  next.push(moment, plus(countOf(state, last), cost));
  return next;
}

/** Takes out `back` permits, from pair `from` on. @param first pair of the window */
function without(state: State, window: number, first: number, from: number, back: number): State | undefined {
  const before = countOf(state, from - 1);
  const next = state.slice(0, 2 * from);
  for (let pair = from; pair <= lastOf(state); pair += 1) {
    const count = countOf(state, pair);
    if (minus(count, before) > back) next.push(momentOf(state, pair), minus(count, back));
  }
  next[0] = momentOf(next, lastOf(next)) + window;
  return lastOf(next) < first ? undefined : next;
}

/** Permits that went with pair `first` and all after it. */
const usedFrom = (state: State, first: number): number =>
  minus(countOf(state, lastOf(state)), countOf(state, first - 1));

/** The first pair with a moment after `edge`; one past the last when there is none. */
function firstAfter(state: State, edge: number): number {
  let [low, high] = [1, lastOf(state) + 1];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (momentOf(state, middle) > edge) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The pair with the `k`-th permit, counted from pair `first`. */
function reaching(state: State, first: number, k: number): number {
  const before = countOf(state, first - 1);
  let [low, high] = [first, lastOf(state)];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (minus(countOf(state, middle), before) >= k) high = middle;
    else low = middle + 1;
  }
  return low;
}
