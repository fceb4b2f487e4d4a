import fc from 'fast-check';
import { fixedWindow, fixedWindowKind } from './fixed-window.js';

const DAY = 86_400_000;
const MINUTE = 60_000;

const ZONES = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'America/Sao_Paulo',
  'Africa/Cairo',
  'Asia/Kathmandu',
  'Pacific/Apia',
  'Pacific/Kiritimati',
  'Australia/Lord_Howe',
];

const formats = new Map<string, Intl.DateTimeFormat>();

/** The date that the clocks of a zone show, as `2025-01-31`: such texts sort as dates do. */
function dateIn(timeZone: string, ms: number): string {
  const format = formats.get(timeZone) ?? new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' });
  formats.set(timeZone, format);
  return format.format(ms);
}

/** The plain calendar: does a window begin with this date? Decided from the date alone, without arithmetic of days. */
type Begins = (date: string) => boolean;

const WEEKDAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
const lastOf = (year: number, month: number): number => {
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  return [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]!;
};
const onWeekday =
  (anchor: string): Begins =>
  (date) =>
    WEEKDAYS[new Date(`${date}T00:00Z`).getUTCDay()] === anchor;
const onDate =
  (count: number, first: number, anchor: number): Begins =>
  (date) => {
    const [year, month, day] = date.split('-').map(Number);
    const months = (((month! - first) % count) + count) % count;
    return months === 0 && day === Math.min(anchor, lastOf(year!, month!));
  };

/** Walks the days of UTC, and looks for the first minute of the first date on which a window begins. Slow and obvious. */
function nextBeginning(timeZone: string, begins: Begins, after: number): number {
  let known = dateIn(timeZone, after);
  for (let at = after; ; at += DAY / 4) {
    const date = dateIn(timeZone, at);
    if (date === known) continue;
    // Dates that the zone skipped count as begun with the next one.
    const passed: string[] = [];
    for (let day = Date.parse(known) + DAY; day <= Date.parse(date); day += DAY)
      passed.push(new Date(day).toISOString().slice(0, 10));
    if (passed.some(begins)) return firstMinute(timeZone, at - DAY / 4, date);
    known = date;
  }
}

function firstMinute(timeZone: string, from: number, date: string): number {
  for (let at = Math.floor(from / MINUTE) * MINUTE; ; at += MINUTE)
    if (dateIn(timeZone, at) >= date) return at;
}

const monthly = fc.constantFrom(1, 2, 5, 15, 28, 29, 30, 31).map((anchor) => ({
  options: { window: '1 month', anchor } as const,
  begins: onDate(1, 1, anchor),
}));
const weekly = fc.constantFrom('monday' as const, 'wednesday' as const, 'sunday' as const).map((anchor) => ({
  options: { window: '1 week', anchor } as const,
  begins: onWeekday(anchor),
}));
const several = fc
  .record({
    count: fc.constantFrom(2, 3, 4, 6, 12),
    anchor: fc.constantFrom(...(['01-01', '01-31', '02-29', '04-06', '08-30', '11-30', '12-31'] as const)),
  })
  .map(({ count, anchor }) => ({
    options: { window: count === 12 ? '1 year' : `${count} months`, anchor } as const,
    begins: onDate(count, Number(anchor.slice(0, 2)), Number(anchor.slice(3))),
  }));

const compile = (timeZone: string, options: object) =>
  fixedWindowKind.compile(fixedWindow({ limit: 1, timeZone, window: '1d', ...options }));

/** The end of the window that contains the moment. */
function endAt(timeZone: string, options: object, now: number, callers = now): number {
  const { algorithm, parametersAt } = compile(timeZone, options);
  return algorithm.take(parametersAt!(callers * 1000), undefined, now * 1000, 1)[0]! / 1000;
}

const moments = fc.oneof(
  fc.integer({ min: Date.parse('1972-01-01'), max: Date.parse('2100-03-05') }),
  fc.integer({ min: Date.parse('2011-12-01'), max: Date.parse('2012-03-05') }), // Samoa skips a day
  fc.integer({ min: Date.parse('2018-01-01'), max: Date.parse('2018-12-31') }), // São Paulo skips midnight
);

test("windows end where those of a plain calendar do, even if the caller's clock is a week wrong", () => {
  const calendars = fc.oneof(monthly, weekly, several);
  fc.assert(
    fc.property(
      calendars,
      fc.constantFrom(...ZONES),
      moments,
      fc.integer({ min: -7, max: 7 }),
      ({ options, begins }, zone, now, skew) => {
        expect(endAt(zone, options, now, now + skew * DAY)).toBe(nextBeginning(zone, begins, now));
      },
    ),
    { numRuns: 150 },
  );
});

const windowsOf = (timeZone: string, options: object, from: string, count: number): string[] => {
  const ends: string[] = [];
  for (let at = Date.parse(from); ends.length < count; at = Date.parse(ends.at(-1)!))
    ends.push(new Date(endAt(timeZone, options, at)).toISOString());
  return ends;
};

test.each([
  // The 31st is the last day of each month, and the 31st again after a short one.
  [
    'UTC',
    { window: '1 month', anchor: 31 },
    '2024-01-31T00:00Z',
    ['2024-02-29', '2024-03-31', '2024-04-30', '2024-05-31'],
  ],
  ['UTC', { window: '1 month', anchor: 30 }, '2023-01-30T00:00Z', ['2023-02-28', '2023-03-30']],
  ['UTC', { window: '1 year', anchor: '02-29' }, '2023-12-01T00:00Z', ['2024-02-29', '2025-02-28']],
  [
    'UTC',
    { window: '3 months' },
    '2025-02-01T00:00Z',
    ['2025-04-01', '2025-07-01', '2025-10-01', '2026-01-01'],
  ],
  ['UTC', { window: '1 week' }, '2025-01-01T00:00Z', ['2025-01-06', '2025-01-13']],
  ['UTC', { window: '1 month', anchor: 29 }, '2100-01-29T00:00Z', ['2100-02-28', '2100-03-29']],
] as const)('windows of %s %j from %s end at %j', (zone, options, from, ends) => {
  expect(windowsOf(zone, options, from, ends.length)).toEqual(ends.map((end) => `${end}T00:00:00.000Z`));
});

test.each([
  // Summer time begins and ends within the window.
  ['Europe/Berlin', { window: '1 month', anchor: 15 }, '2025-03-20T00:00Z', '2025-04-14T22:00:00.000Z'],
  ['Europe/Berlin', { window: '1 month', anchor: 15 }, '2025-10-20T00:00Z', '2025-11-14T23:00:00.000Z'],
  // Midnight of the day is skipped: the window begins at 01:00.
  ['America/Sao_Paulo', { window: '1 month', anchor: 4 }, '2018-10-20T00:00Z', '2018-11-04T03:00:00.000Z'],
  ['Africa/Cairo', { window: '1 week', anchor: 'friday' }, '2024-04-24T00:00Z', '2024-04-25T22:00:00.000Z'],
  // The day did not exist: the window begins with the next one.
  ['Pacific/Apia', { window: '1 month', anchor: 30 }, '2011-12-20T00:00Z', '2011-12-30T10:00:00.000Z'],
  ['Asia/Kathmandu', { window: '1 month' }, '2025-06-15T00:00Z', '2025-06-30T18:15:00.000Z'],
  ['Asia/Shanghai', { window: '1 week', anchor: 'monday' }, '2025-06-01T00:00Z', '2025-06-01T16:00:00.000Z'],
] as const)('%s %j: the window of %s ends at %s', (zone, options, now, end) => {
  expect(new Date(endAt(zone, options, Date.parse(now))).toISOString()).toBe(end);
});

test('outside the sent calendar, a window is no longer than the longest window', () => {
  const now = Date.parse('2025-06-15T00:00Z');
  const end = endAt('UTC', { window: '1 month' }, now, now + 3650 * DAY);
  expect(end - now).toBeGreaterThan(0);
  expect(end - now).toBeLessThanOrEqual(31 * DAY);
});
