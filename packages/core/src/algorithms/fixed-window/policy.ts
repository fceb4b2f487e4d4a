import { CALENDAR_LENGTH, type Duration, toMicros } from '../../duration.js';
import { checkInteger, checkOneOf, checkOptions, count, describe } from '../../options.js';
import type { Policy } from '../algorithm.js';
import { notePeriod } from '../policy-kind.js';
import { checkTimeZone, MONTHS, monthsFrom, weeksFrom } from './calendar.js';

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
export function readPolicy(options: FixedWindowOptions) {
  checkOptions('fixedWindow', options, ['limit', 'window', 'align', 'timeZone', 'anchor']);
  const { window: given, timeZone } = options;
  const limit = checkInteger('fixedWindow: limit', options.limit, 0);
  const calendar = readCalendarWindow(given, options.anchor);
  const micros = calendar === undefined ? toMicros('fixedWindow: window', given) : 0;
  const { align = calendar === undefined && timeZone === undefined ? 'first-hit' : 'clock' } = options;
  checkOneOf('fixedWindow: align', align, ['first-hit', 'clock']);
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

/** A day on which windows begin: see `FixedWindowOptions.anchor`. */
export type Anchor = number | Weekday | `${number}-${number}`;

const WEEKDAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const;
export type Weekday = (typeof WEEKDAYS)[number];

/** ` by the clock`; of calendar windows ` from 15, in Europe/Berlin`. */
export function calendarText({ align, window, timeZone, anchor }: FixedWindowPolicy): string {
  if (align !== 'clock') return '';
  if (typeof window === 'number' && timeZone === undefined) return ' by the clock';
  return `${anchor === undefined ? '' : ` from ${anchor}`}, in ${timeZone ?? 'UTC'}`;
}

/**
 * Reads `window: '1 month'` and its anchor, which is left out if it is the default.
 * @returns undefined if the window is a fixed length
 * @throws RangeError naming the value that is not acceptable
 */
function readCalendarWindow(window: unknown, anchor: unknown) {
  const [, count, unit] = (typeof window === 'string' && CALENDAR_LENGTH.exec(window)) || [];
  if (unit === undefined) {
    if (anchor === undefined) return undefined;
    throw new RangeError(
      `fixedWindow: anchor is for windows of the calendar, such as '1 month' or '1 week'; with window ${describe(window)} leave it out`,
    );
  }
  const months = Number(count) * (unit === 'year' ? 12 : 1);
  if (unit === 'week' ? Number(count) !== 1 : !MONTHS.includes(months)) {
    const names = MONTHS.map(nameOf).map((name) => `'${name}'`);
    throw new RangeError(
      `fixedWindow: a window of the calendar is '1 week', ${names.slice(0, -1).join(', ')} or ${names.at(-1)}, not ${describe(window)}; ` +
        "for a fixed length write days, such as '14d'",
    );
  }
  if (unit === 'week') {
    const weekday = weekdayOf(anchor);
    return {
      window: '1 week',
      ...(weekday > 0 && { anchor: WEEKDAYS[weekday]! }),
      calendar: weeksFrom(weekday),
    };
  }
  const [month, date] = months === 1 ? [0, dateOf(anchor)] : monthAndDate(nameOf(months), anchor);
  return {
    window: nameOf(months),
    ...((month > 0 || date > 1) && { anchor: anchor as Anchor }),
    calendar: monthsFrom(months, month, date),
  };
}

const nameOf = (months: number): string => (months === 12 ? '1 year' : count(months, 'month'));

function weekdayOf(anchor: unknown): number {
  const weekday = WEEKDAYS.indexOf((anchor ?? WEEKDAYS[0]) as Weekday);
  if (weekday !== -1) return weekday;
  throw new RangeError(
    `fixedWindow: anchor of '1 week' must be a day of the week such as 'monday', not ${describe(anchor)}`,
  );
}

function dateOf(anchor: unknown = 1): number {
  if (Number.isInteger(anchor) && (anchor as number) >= 1 && (anchor as number) <= 31)
    return anchor as number;
  throw new RangeError(
    `fixedWindow: anchor of '1 month' must be a day of the month, 1 to 31 (in a shorter month its last day), not ${describe(anchor)}`,
  );
}

function monthAndDate(window: string, anchor: unknown = '01-01'): [month: number, date: number] {
  const [, month, date] = (typeof anchor === 'string' && /^(\d\d)-(\d\d)$/.exec(anchor)) || [];
  const day = new Date(Date.UTC(2000, Number(month) - 1, Number(date))); // a leap year
  if (day.getUTCMonth() === Number(month) - 1 && day.getUTCDate() === Number(date))
    return [day.getUTCMonth(), day.getUTCDate()];
  throw new RangeError(
    `fixedWindow: anchor of '${window}' must be a date, month and day, on which a window begins, such as '04-01', not ${describe(anchor)}`,
  );
}
