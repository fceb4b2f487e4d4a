import { fixedWindow, fixedWindowAlgorithm, fixedWindowKind } from './fixed-window.js';

const { normalize, wait, take, refund, usage } = fixedWindowAlgorithm;
const HOUR = 3_600_000_000;
const DAY = 24 * HOUR;
const at = (text: string) => Date.parse(text) * 1000;
const iso = (micros: number) => new Date(micros / 1000).toISOString();

const daysIn = (timeZone: string, limit = 2) =>
  fixedWindowKind.compile(fixedWindow({ limit, window: '1d', align: 'clock', timeZone }));
const edgesAt = (timeZone: string, now: string) => daysIn(timeZone).parametersAt!(at(now)).slice(3);

/** Beginnings of days, from the day that contains `now`, with the length of each in hours. */
function days(timeZone: string, now: string, count: number): [string, number][] {
  const edges = edgesAt(timeZone, now);
  const first = edges.filter((edge) => edge <= at(now)).length - 1;
  return edges
    .slice(first, first + count)
    .map((edge, i) => [iso(edge), (edges[first + i + 1]! - edge) / HOUR]);
}

describe('calendar days', () => {
  test('in Berlin last 23 hours when summer time begins, and 25 when it ends', () => {
    expect(days('Europe/Berlin', '2025-03-29T12:00:00Z', 3)).toEqual([
      ['2025-03-28T23:00:00.000Z', 24],
      ['2025-03-29T23:00:00.000Z', 23],
      ['2025-03-30T22:00:00.000Z', 24],
    ]);
    expect(days('Europe/Berlin', '2025-10-25T22:00:00Z', 2)).toEqual([
      ['2025-10-25T22:00:00.000Z', 25],
      ['2025-10-26T23:00:00.000Z', 24],
    ]);
  });

  test.each([
    // Clocks went from 00:00 to 01:00: the day began at 01:00.
    ['America/Sao_Paulo', '2018-11-04T12:00:00Z', '2018-11-04T03:00:00.000Z', 23],
    ['Africa/Cairo', '2024-04-26T12:00:00Z', '2024-04-25T22:00:00.000Z', 23],
    // Clocks went from 24:00 back to 23:00, before the new date was reached.
    ['America/Sao_Paulo', '2018-02-17T12:00:00Z', '2018-02-17T02:00:00.000Z', 25],
    // Clocks went from 00:01 back to 23:01: the date had been there for a minute.
    ['America/St_Johns', '2010-11-07T12:00:00Z', '2010-11-07T02:30:00.000Z', 25],
    // Half an hour of summer time, and a zone a quarter off.
    ['Australia/Lord_Howe', '2025-10-05T00:00:00Z', '2025-10-04T13:30:00.000Z', 23.5],
    ['Asia/Kathmandu', '2025-06-01T00:00:00Z', '2025-05-31T18:15:00.000Z', 24],
    // The 30th of December 2011 did not exist in Samoa.
    ['Pacific/Apia', '2011-12-30T09:00:00Z', '2011-12-29T10:00:00.000Z', 24],
    ['Pacific/Apia', '2011-12-30T11:00:00Z', '2011-12-30T10:00:00.000Z', 24],
    ['UTC', '2025-01-01T00:00:00Z', '2025-01-01T00:00:00.000Z', 24],
  ])('in %s at %s begin at %s and last %d hours', (timeZone, now, start, hours) => {
    expect(days(timeZone, now, 1)).toEqual([[start, hours]]);
  });

  test('are sent from two days before to nine days after, at any time of the UTC day and in any zone', () => {
    for (const zone of ['Pacific/Kiritimati', 'Etc/GMT+12', 'Europe/Berlin']) {
      for (const now of ['2025-03-30T00:00:00Z', '2025-03-30T23:59:59.999Z']) {
        const edges = edgesAt(zone, now);
        expect(edges[0]).toBeLessThanOrEqual(at(now) - 2 * DAY);
        expect(edges.at(-1)).toBeGreaterThanOrEqual(at(now) + 9 * DAY);
        expect([...new Set(edges)].sort((a, b) => a - b)).toEqual(edges);
      }
    }
  });

  test('are computed once a day, with the same result in every process', () => {
    const rule = daysIn('Europe/Berlin');
    const morning = rule.parametersAt!(at('2025-06-01T00:00:00Z'));
    expect(rule.parametersAt!(at('2025-06-01T23:59:59.999Z'))).toBe(morning);
    expect(rule.parametersAt!(at('2025-06-02T00:00:00Z'))).not.toEqual(morning);
    expect(daysIn('Europe/Berlin').parametersAt!(at('2025-06-01T12:00:00Z'))).toEqual(morning);
  });

  test('do not begin before 1970: no moment is negative', () => {
    expect(daysIn('Europe/Berlin').parametersAt!(0)[3]).toBe(23 * HOUR);
  });
});

describe('2 a day in Berlin', () => {
  const rule = daysIn('Europe/Berlin');
  const noon = at('2025-03-30T10:00:00Z'); // the day of 23 hours
  const parameters = rule.parametersAt!(noon);
  const midnight = at('2025-03-30T22:00:00Z');

  test('both permits return at local midnight, after a day of 23 hours', () => {
    const state = take(parameters, undefined, noon, 2);
    expect(state).toEqual([midnight, 2]);
    expect(usage(parameters, state, noon)).toEqual({ remaining: 0, reset: 12 * HOUR });
    expect(wait(parameters, state, noon, 1)).toBe(12 * HOUR);
    expect(wait(parameters, state, midnight - 1, 1)).toBe(1);
    expect(wait(parameters, state, midnight, 1)).toBe(0);
    expect(take(parameters, state, midnight, 1)).toEqual([midnight + DAY, 1]);
  });

  test('a refund counts only for permits of the same day', () => {
    const state = take(parameters, undefined, noon, 2);
    expect(refund(parameters, state, noon, 1, midnight - 23 * HOUR - 1)).toBe(state);
    expect(refund(parameters, state, noon, 1, midnight - 23 * HOUR)).toEqual([midnight, 1]);
  });

  test("the store's clock picks the day, not the caller's, within the sent days", () => {
    for (const skew of [-8 * DAY, -DAY, DAY, 2 * DAY]) {
      expect(take(rule.parametersAt!(noon + skew), undefined, noon, 1)).toEqual([midnight, 1]);
    }
  });

  test('outside the sent days, windows are steps of 24 hours from the nearest edge', () => {
    const [first, last] = [parameters[3]!, parameters.at(-1)!];
    const end = (now: number) => take(parameters, undefined, now, 1)[0];
    expect([end(last - 1), end(last), end(last + 100 * DAY - 1)]).toEqual([
      last,
      last + DAY,
      last + 100 * DAY,
    ]);
    expect([end(first), end(first - 1), end(first - DAY), end(first - DAY - 1)]).toEqual([
      first + DAY,
      first,
      first,
      first - DAY,
    ]);
    expect(take([2, DAY, 2], undefined, noon, 1)).toEqual([at('2025-03-31T00:00:00Z'), 1]);
  });

  test('a state of another zone, or of a first-hit window, ends with this day at the latest', () => {
    const hit = take([2, DAY], undefined, noon, 2);
    expect(normalize(parameters, hit, noon)).toEqual([midnight, 2]);
    const tokyo = take(daysIn('Asia/Tokyo').parametersAt!(noon), undefined, noon, 2);
    expect(normalize(parameters, tokyo, noon)).toBe(tokyo);
    expect(wait(parameters, tokyo, noon, 1)).toBe(5 * HOUR);
  });
});
