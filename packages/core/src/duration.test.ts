import { toMicros } from './duration.js';

test.each([
  ['250ms', 250_000],
  ['5s', 5_000_000],
  ['1m30s', 90_000_000],
  ['1.5h', 5_400_000_000],
  ['1d', 86_400_000_000],
  ['0.5s', 500_000],
  ['1.9s', 1_900_000],
  ['0.001ms', 1],
  ['1 minute', 60_000_000],
  ['90 seconds', 90_000_000],
  ['1.5 hours', 5_400_000_000],
  ['250 milliseconds', 250_000],
  ['7 days', 604_800_000_000],
  [1, 1_000],
  [0.5, 500],
  ['3650d', 315_360_000_000_000],
  [17_180_039_575.356, 17_180_039_575_356],
])('%j is %d µs', (duration, micros) => {
  expect(toMicros('window', duration)).toBe(micros);
});

test.each([
  '',
  ' 5s',
  '5 s',
  '5',
  '-5s',
  '1h30',
  '30s1m',
  '1s1s',
  '1w',
  '1minute',
  '1  minute',
  'a minute',
  '1 week',
  '1 minute 30 seconds',
  '-1 minute',
  '0 minutes',
  '1e3s',
  '0s',
  '0.0001ms',
  '3651d',
  'ms',
  '٣s',
  0,
  -1,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  0.0001,
  null,
  undefined,
  {},
  [],
  true,
  '9'.repeat(1e6),
  '1 month',
  '2 years',
])('rejects %j', (duration) => {
  expect(() => toMicros('window', duration as never)).toThrow(RangeError);
  expect(() => toMicros('window', duration as never)).toThrow(/^window must be a duration such as/);
});

test('a duration of 0 is accepted only where it is allowed', () => {
  expect(toMicros('timeout', 0, 0)).toBe(0);
  expect(toMicros('timeout', '0s', 0)).toBe(0);
});

test('a month as a duration is rejected with the remedy', () => {
  expect(() => toMicros('period', '1 month')).toThrow(
    /^period must be a duration .* not "1 month": only the window of fixedWindow is one of the calendar. Write days, such as '30d'/,
  );
});
