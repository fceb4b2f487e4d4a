import { describe } from '../../options.js';

const SECOND = 1_000;
const DAY = 86_400_000;

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
    } catch {} // told below, with a remedy
  }
  throw new RangeError(`${what} must be an IANA name such as 'Europe/Berlin', not ${describe(timeZone)}`);
}

/**
 * The moment (ms since the epoch) at which a day of a zone begins. Days count from 1970-01-01.
 *
 * A day begins at the first moment that has its date: where clocks skip midnight that is 01:00, where they are put back to
 * before midnight it is the first of both midnights. A date that a zone skipped altogether begins with the next one.
 */
export function startOfDayIn(timeZone: string): (day: number) => number {
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
