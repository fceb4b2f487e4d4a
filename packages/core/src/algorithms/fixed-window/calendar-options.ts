import { CALENDAR_LENGTH } from '../../duration.js';
import { describe } from '../../options.js';
import { type Calendar, MONTHS, monthsFrom, weeksFrom } from './calendar.js';

/** A day on which windows begin: see `FixedWindowOptions.anchor`. */
export type Anchor = number | Weekday | `${number}-${number}`;

const WEEKDAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const;
export type Weekday = (typeof WEEKDAYS)[number];

/** The options of a calendar window, in one spelling. */
export interface CalendarWindow {
  readonly window: string;
  /** Left out if it is the default. */
  readonly anchor?: Anchor;
  readonly calendar: Calendar;
}

/**
 * Reads `window: '1 month'` and its anchor.
 * @returns undefined if the window is a fixed length
 * @throws RangeError naming the value that is not acceptable
 */
export function readCalendarWindow(window: unknown, anchor: unknown): CalendarWindow | undefined {
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

const nameOf = (months: number): string =>
  months === 12 ? '1 year' : `${months} month${months === 1 ? '' : 's'}`;

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
