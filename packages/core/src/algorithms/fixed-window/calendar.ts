import { describe } from '../../options.js';

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

/**
 * `head`, then the moments (µs since the epoch, ascending) at which windows around `now` (µs) begin: 15 for days, otherwise 8, and fewer
 * around 1970, because no moment is negative. The same for every `now` of one UTC day, and computed once for it.
 */
export function edgesAround(
  calendar: Calendar,
  timeZone: string,
  head: readonly number[],
): (now: number) => readonly number[] {
  const startOfDay = startOfDayIn(timeZone);
  let known = Number.NaN;
  let parameters = head;
  return (now) => {
    const today = Math.floor(now / (DAY * 1000));
    if (today !== known) {
      const present = calendar.indexOf(today);
      const edges = new Set<number>(); // a date that a zone skipped is no day
      for (let i = present - calendar.before; i <= present + calendar.after; i += 1) {
        const edge = startOfDay(calendar.dayOf(i)) * 1000;
        if (edge >= 0) edges.add(edge);
      }
      parameters = [...head, ...edges];
      known = today;
    }
    return parameters;
  };
}

const SECOND = 1_000;

/** Whole milliseconds by which the clocks of a zone are ahead of UTC at a moment (ms since the epoch). */
type Offset = (moment: number) => number;

/** A time in which a zone's offset stays the same, from `from` (ms) until the next one begins. */
interface Period {
  readonly from: number;
  readonly offset: number;
}

/** @throws RangeError when this runtime knows no such zone */
export function checkTimeZone(what: string, timeZone: unknown): void {
  if (typeof timeZone === 'string' && /^[a-z]/i.test(timeZone)) {
    try {
      new Intl.DateTimeFormat('en-US', { timeZone });
      return;
    } catch {} // reported below, with a remedy
  }
  throw new RangeError(`${what} must be an IANA name such as 'Europe/Berlin', not ${describe(timeZone)}`);
}

/**
 * The moment (ms since the epoch) at which a day of a zone begins. Days count from 1970-01-01.
 *
 * A day begins at the first moment that has its date: where clocks skip midnight that is 01:00, where they are put back to
 * before midnight it is the first of both midnights. A date that a zone skipped altogether begins with the next one.
 */
function startOfDayIn(timeZone: string): (day: number) => number {
  const offset = offsetIn(timeZone);
  // Dates begin somewhere on Earth less than a day before or after they do in UTC.
  return (day) => firstMoment(periodsOf(offset, (day - 1) * DAY, (day + 1) * DAY), day * DAY);
}

/** The first moment at which the zone's clocks say `wall` (ms, read as if they showed UTC) or later. */
function firstMoment(periods: readonly Period[], wall: number): number {
  for (const [i, { from, offset }] of periods.entries()) {
    const moment = Math.max(from, wall - offset);
    if (moment < (periods[i + 1]?.from ?? Number.POSITIVE_INFINITY)) return moment;
  }
  return Number.NaN; // not reached: the last period has no end
}

/** Looks once a day: no zone has ever changed its offset twice within less than three. */
function periodsOf(offset: Offset, from: number, until: number): Period[] {
  const periods = [{ from, offset: offset(from) }];
  for (let at = from; at < until; at += DAY) {
    const before = periods.at(-1)!.offset;
    const after = offset(at + DAY);
    if (after !== before) periods.push({ from: changeBetween(offset, at, at + DAY), offset: after });
  }
  return periods;
}

/** The first second at which the offset differs from the offset at `low`, found by halving. */
function changeBetween(offset: Offset, low: number, high: number): number {
  const before = offset(low);
  let [last, first] = [low / SECOND, high / SECOND];
  while (first - last > 1) {
    const middle = Math.floor((last + first) / 2);
    if (offset(middle * SECOND) === before) last = middle;
    else first = middle;
  }
  return first * SECOND;
}

function offsetIn(timeZone: string): Offset {
  const clock = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  return (moment) => {
    // '11/4/2018, 01:00:00'
    const [month, day, year, hour, minute, second] = clock.format(moment).match(/\d+/g)!.map(Number);
    return Date.UTC(year!, month! - 1, day, hour, minute, second) - moment;
  };
}
