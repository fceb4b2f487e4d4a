const DAY = 86_400_000;

/** Windows that begin with a day of the calendar. They have indexes in a row. Days count from 1970-01-01. */
export interface Calendar {
  /** The longest window, in days. */
  readonly longest: number;
  /** Windows before and after the present one whose beginnings are sent with each call. */
  readonly before: number;
  readonly after: number;
  /** The window that has the day in it. */
  indexOf(day: number): number;
  /** The first day of a window. */
  dayOf(index: number): number;
}

export const DAYS: Calendar = {
  longest: 1,
  before: 3,
  after: 11,
  indexOf: (day) => day,
  dayOf: (index) => index,
};

/** What a call sends of longer windows: the clocks of a caller and of the store may differ by two windows. */
const FEW = { before: 2, after: 5 };

/** @param weekday 0 for Monday */
export function weeksFrom(weekday: number): Calendar {
  const first = 4 + weekday; // 1970-01-05 was a Monday
  return {
    ...FEW,
    longest: 7,
    indexOf: (day) => Math.floor((day - first) / 7),
    dayOf: (index) => first + 7 * index,
  };
}

/** The days of each window of as many months, at most: those of July and August, for example. */
const LONGEST: Readonly<Record<number, number>> = { 1: 31, 2: 62, 3: 92, 4: 123, 6: 184, 12: 366 };

/** How many months a window can have: a year has a whole number of windows. */
export const MONTHS = Object.keys(LONGEST).map(Number);

/**
 * @param count months of a window, one of `MONTHS`
 * @param month 0 for January: a month in which a window begins
 * @param date the day of the month, 1 to 31; the last day of a shorter month
 */
export function monthsFrom(count: number, month: number, date: number): Calendar {
  const first = month % count;
  const dayOf = (index: number) => {
    const months = first + count * index;
    const last = new Date(Date.UTC(1970, months + 1, 0)).getUTCDate();
    return Date.UTC(1970, months, Math.min(date, last)) / DAY;
  };
  return {
    ...FEW,
    longest: LONGEST[count]!,
    indexOf(day) {
      const at = new Date(day * DAY);
      const index = Math.floor(((at.getUTCFullYear() - 1970) * 12 + at.getUTCMonth() - first) / count);
      return dayOf(index) > day ? index - 1 : index;
    },
    dayOf,
  };
}
