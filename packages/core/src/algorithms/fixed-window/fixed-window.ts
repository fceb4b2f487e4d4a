import { type Duration, toMicros } from '../../duration.js';
import { checkInteger, checkOptions, describe } from '../../options.js';
import type { Algorithm, Policy, PolicyKind, State } from '../algorithm.js';
import { ANY, NEVER } from '../algorithm.js';
import { shareOfLimit } from '../share.js';
import { notePeriod } from '../short-periods.js';
import { expandWindowRun } from '../window-run.js';
import { calendarDays, checkTimeZone } from './calendar.js';
import { CALENDAR, CLOCK, endOf, latestEnd, startOf, usedAt, windowView } from './window-edges.js';

export interface FixedWindowOptions {
  /** Permits per window: a whole number. 0 closes the limit: every call is denied. */
  readonly limit: number;
  /** How long a window lasts. */
  readonly window: Duration;
  /**
   * Where windows begin. `'first-hit'`, the default: with the first call that takes a permit. `'clock'`: at the multiples of
   * `window` since 1970 in UTC, so at full minutes, hours or days for `'1m'`, `'1h'`, `'1d'`.
   */
  readonly align?: 'first-hit' | 'clock';
  /**
   * An IANA name such as `'Europe/Berlin'`, for `align: 'clock'` and `window: '1d'`: the calendar days of that zone, of 23, 24 or 25
   * hours where clocks are changed. Default: days of UTC.
   */
  readonly timeZone?: string;
}

export interface FixedWindowPolicy extends Policy {
  readonly algorithm: 'fixedWindow';
  readonly limit: number;
  /** Milliseconds. */
  readonly window: number;
  /** Left out for windows that begin with their first call. */
  readonly align?: 'clock';
  readonly timeZone?: string;
}

const DAY = toMicros('day', '1d');

/**
 * A counter: `limit` permits in each window. Around the edge between two windows up to 2 × `limit` calls can pass within one
 * window's length.
 * @throws RangeError naming the value that is not acceptable
 */
export function fixedWindow(options: FixedWindowOptions): FixedWindowPolicy {
  checkOptions('fixedWindow', options, ['limit', 'window', 'align', 'timeZone']);
  const { align = 'first-hit', timeZone } = options;
  const limit = checkInteger('fixedWindow: limit', options.limit, 0);
  const micros = toMicros('fixedWindow: window', options.window);
  if (align !== 'first-hit' && align !== 'clock') {
    throw new RangeError(`fixedWindow: align must be 'first-hit' or 'clock', not ${describe(align)}`);
  }
  if (timeZone !== undefined) {
    checkTimeZone('fixedWindow: timeZone', timeZone);
    if (align !== 'clock' || micros !== DAY) {
      throw new RangeError(
        "fixedWindow: timeZone is for calendar days, which are align: 'clock' and window: '1d' (exactly one day); " +
          `with align ${describe(align)} and window ${describe(options.window)} leave it out`,
      );
    }
  }
  const policy: FixedWindowPolicy = {
    algorithm: 'fixedWindow',
    limit,
    window: micros / 1000,
    ...(align === 'clock' && { align }),
    ...(timeZone !== undefined && { timeZone }),
  };
  return notePeriod(policy, 'window', options.window);
}

/**
 * State: [end of the window (µs), permits used in it].
 * Parameters: [limit, window (µs)], then `CLOCK`, or `CALENDAR` and the moments at which the days around the present begin. The
 * store's clock picks the day out of these: a caller whose clock is wrong supplies a calendar, never the time.
 */
export const fixedWindowAlgorithm: Algorithm = {
  tag: 'fw',
  parameterNames: ['limit', 'window', 'alignment'],

  size: ([limit, window]) => ({ limit: limit!, window: window! }),

  normalize: (parameters, state, now) =>
    state[0]! > latestEnd(parameters, now) ? [endOf(parameters, now), state[1]!] : state,

  wait([limit], state, now, cost) {
    if (cost === 0) return 0;
    if (cost > limit!) return NEVER;
    return cost <= limit! - usedAt(state, now) ? 0 : state![0]! - now;
  },

  step(parameters, cell, now, cost) {
    const { numbers, at } = cell;
    const limit = parameters[0]!;
    let end = numbers[at]!;
    let used = numbers[at + 1]!;
    if (cost === 0 || cost > limit || end > latestEnd(parameters, now)) return false;
    if (end <= now) {
      end = endOf(parameters, now);
      used = 0;
    }
    const allowed = cost <= limit - used;
    if (allowed) {
      used += cost;
      numbers[at] = end;
      numbers[at + 1] = used;
    }
    cell.wait = allowed ? 0 : end - now;
    cell.remaining = Math.max(0, limit - used);
    cell.reset = end - now;
    return true;
  },

  take(parameters, state, now, cost): State {
    if (state === undefined || state[0]! <= now) return [endOf(parameters, now), cost];
    return [state[0]!, Math.min(state[1]! + cost, Number.MAX_SAFE_INTEGER)];
  },

  refund(parameters, state, _now, cost, at) {
    const [end, used] = state;
    if (cost === 0) return state;
    if (at !== ANY && (at >= end! || at < startOf(parameters, end!))) return state;
    return cost < used! ? [end!, used! - cost] : undefined;
  },

  usage: ([limit], state, now) => ({
    remaining: Math.max(0, limit! - usedAt(state, now)),
    reset: Math.max(0, (state?.[0] ?? now) - now),
  }),

  view: windowView,

  expandRun: expandWindowRun,

  anchored: (parameters) => parameters[2] === undefined,

  // Until its window ends a permit counts the same whenever it is used.
  prefetched: (parameters, micros) => ({ parameters, longest: micros }),

  usableFor(parameters, now, reset) {
    if (parameters[2] !== undefined) return Math.min(reset, endOf(parameters, now) - now);
    // With a booking for a later window, the end of this one is not known.
    return reset <= parameters[1]! ? reset : 0;
  },
};

export const fixedWindowKind: PolicyKind<FixedWindowPolicy> = {
  name: 'fixedWindow',
  shareOf: shareOfLimit,
  compile({ algorithm: _, ...options }) {
    const { limit, window: ms, align, timeZone } = fixedWindow(options);
    const window = toMicros('fixedWindow: window', ms);
    const rule = { algorithm: fixedWindowAlgorithm, limit, window };
    if (align === undefined) return { ...rule, parameters: [limit, window] };
    if (timeZone === undefined) return { ...rule, parameters: [limit, window, CLOCK] };

    const parametersAt = calendarDays(timeZone, [limit, window, CALENDAR]);
    return {
      ...rule,
      parametersAt,
      // The calendar around the present.
      get parameters() {
        return parametersAt(Date.now() * 1000);
      },
    };
  },
};
