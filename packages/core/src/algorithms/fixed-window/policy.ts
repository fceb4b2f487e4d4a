import { type Duration, toMicros } from '../../duration.js';
import { checkInteger, checkOptions, describe } from '../../options.js';
import type { Policy } from '../algorithm.js';
import { notePeriod } from '../short-periods.js';
import { type Anchor, type CalendarWindow, readCalendarWindow } from './calendar-options.js';
import { checkTimeZone } from './time-zone.js';

/** The numbers of `fixedWindow`. */
export interface FixedWindowOptions {
  /** Permits per window: a whole number. 0 closes the limit: every call is denied. */
  readonly limit: number;
  /**
   * How long a window lasts: a duration; or, of the calendar, `'1 week'`, `'1 month'`, `'2 months'`, `'3 months'`, `'4 months'`,
   * `'6 months'` or `'1 year'`. `'30d'` is 30 × 24 hours.
   */
  readonly window: Duration;
  /**
   * Where windows begin. `'first-hit'`: with the first call that takes a permit. `'clock'`: at the multiples of `window` since 1970 in
   * UTC, so at full minutes, hours or days for `'1m'`, `'1h'`, `'1d'`; or with the calendar. Default: `'clock'` with a `timeZone` or a
   * window of the calendar, otherwise `'first-hit'`.
   */
  readonly align?: 'first-hit' | 'clock';
  /**
   * An IANA name such as `'Europe/Berlin'`, for `window: '1d'` and windows of the calendar: the days of that zone, of 23, 24 or 25
   * hours where clocks are changed. Default: days of UTC.
   */
  readonly timeZone?: string;
  /**
   * The day on which a window of the calendar begins. For `'1 week'` a day of the week, default `'monday'`. For `'1 month'` a day of the
   * month, 1 (the default) to 31; in a shorter month its last day. For several months or a year a date on which one of the windows
   * begins, month and day: `'04-01'`, default `'01-01'`.
   */
  readonly anchor?: Anchor;
}

/** What `fixedWindow` returns. */
export interface FixedWindowPolicy extends Policy {
  readonly algorithm: 'fixedWindow';
  readonly limit: number;
  /** Milliseconds; a window of the calendar is a text, such as `'1 month'`. */
  readonly window: number | string;
  /** Left out for windows that begin with their first call. */
  readonly align?: 'clock';
  /** Left out for days of UTC. */
  readonly timeZone?: string;
  /** Left out if it is the default. */
  readonly anchor?: Anchor;
}

export const DAY = toMicros('day', '1d');

/**
 * A counter: `limit` permits in each window. Around the edge between two windows up to 2 × `limit` calls can pass within one
 * window's length.
 * @throws RangeError naming the value that is not acceptable
 */
export function fixedWindow(options: FixedWindowOptions): FixedWindowPolicy {
  return readPolicy(options).policy;
}

/** The policy, and its windows if they are weeks, months or years. */
export function readPolicy(options: FixedWindowOptions): {
  readonly policy: FixedWindowPolicy;
  readonly calendar: CalendarWindow | undefined;
} {
  checkOptions('fixedWindow', options, ['limit', 'window', 'align', 'timeZone', 'anchor']);
  const { window: given, timeZone } = options;
  const limit = checkInteger('fixedWindow: limit', options.limit, 0);
  const calendar = readCalendarWindow(given, options.anchor);
  const micros = calendar === undefined ? toMicros('fixedWindow: window', given) : 0;
  const { align = calendar === undefined && timeZone === undefined ? 'first-hit' : 'clock' } = options;
  if (align !== 'first-hit' && align !== 'clock') {
    throw new RangeError(`fixedWindow: align must be 'first-hit' or 'clock', not ${describe(align)}`);
  }
  if (calendar !== undefined && align !== 'clock') {
    throw new RangeError(
      `fixedWindow: window ${describe(given)} is of the calendar, so it cannot begin with the first call. Leave align out, or write days, such as '30d'`,
    );
  }
  if (timeZone !== undefined) {
    checkTimeZone('fixedWindow: timeZone', timeZone);
    if (align !== 'clock' || (calendar === undefined && micros !== DAY)) {
      throw new RangeError(
        "fixedWindow: timeZone is for windows of the calendar: '1d', '1 week', '1 month' and longer ones; " +
          `with align ${describe(align)} and window ${describe(given)} leave it out`,
      );
    }
  }
  const policy: FixedWindowPolicy = {
    algorithm: 'fixedWindow',
    limit,
    window: calendar?.window ?? micros / 1000,
    ...(align === 'clock' && { align }),
    ...(timeZone !== undefined && { timeZone }),
    ...(calendar?.anchor !== undefined && { anchor: calendar.anchor }),
  };
  return { policy: notePeriod(policy, 'window', given), calendar };
}
