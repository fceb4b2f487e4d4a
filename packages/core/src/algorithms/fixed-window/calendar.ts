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
 * `head`, then the moments (µs since the epoch, ascending) at which calendar days of a zone begin: from two days and more
 * before `now` (µs) to nine days and more after it. The same for every `now` of one UTC day, and reckoned once for it.
 *
 * A day begins at the first moment that has its date: where clocks skip midnight that is 01:00, where they are put back to
 * before midnight it is the first of both midnights. A date that a zone skipped altogether is no day.
 */
export function calendarDays(timeZone: string, head: readonly number[]): (now: number) => readonly number[] {
  const offset = offsetIn(timeZone);
  let known = Number.NaN;
  let days = head;
  return (now) => {
    const today = Math.floor(now / (DAY * 1000));
    if (today !== known) {
      days = [...head, ...edgesOf(offset, today - 3, today + 11)];
      known = today;
    }
    return days;
  };
}

/** Where the days `first` to `last` begin, as counted from 1970-01-01; none before that, for moments are never negative. */
function edgesOf(offset: Offset, first: number, last: number): number[] {
  // Dates begin somewhere on Earth less than a day before or after they do in UTC.
  const periods = periodsOf(offset, (first - 1) * DAY, (last + 1) * DAY);
  const edges: number[] = [];
  for (let day = first; day <= last; day += 1) {
    const edge = firstMoment(periods, day * DAY) * 1000;
    if (edge >= 0 && edge !== edges.at(-1)) edges.push(edge);
  }
  return edges;
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
