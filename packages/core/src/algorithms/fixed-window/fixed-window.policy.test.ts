import { fixedWindow, fixedWindowAlgorithm, fixedWindowKind } from './fixed-window.js';

describe('the policy', () => {
  test('is plain data without the defaults', () => {
    expect(fixedWindow({ limit: 5, window: '1s', align: 'first-hit' })).toEqual({
      algorithm: 'fixedWindow',
      limit: 5,
      window: 1000,
    });
    const policy = fixedWindow({ limit: 5, window: '24h', align: 'clock', timeZone: 'Asia/Tokyo' });
    expect(policy).toEqual({
      algorithm: 'fixedWindow',
      limit: 5,
      window: 86_400_000,
      align: 'clock',
      timeZone: 'Asia/Tokyo',
    });
    const rule = fixedWindowKind.compile(JSON.parse(JSON.stringify(policy)));
    expect(fixedWindowAlgorithm.figures.size(rule.parameters)).toEqual({ limit: 5, window: 86_400_000_000 });
    expect([rule.limit, rule.window, rule.parameters.slice(0, 3)]).toEqual([
      5,
      86_400_000_000,
      [5, 86_400_000_000, 2],
    ]);
  });

  test.each([
    [{ window: '1 week' }, { window: '1 week' }, 7],
    [{ window: '1week', anchor: 'monday' }, { window: '1 week' }, 7],
    [{ window: '1 week', anchor: 'sunday' }, { window: '1 week', anchor: 'sunday' }, 7],
    [{ window: '1 month', align: 'clock', anchor: 1 }, { window: '1 month' }, 31],
    [{ window: '1 months', anchor: 31 }, { window: '1 month', anchor: 31 }, 31],
    [{ window: '3 months', anchor: '02-29' }, { window: '3 months', anchor: '02-29' }, 92],
    [{ window: '12 months', anchor: '01-01' }, { window: '1 year' }, 366],
    [{ window: '1 day', timeZone: 'UTC' }, { window: 86_400_000, timeZone: 'UTC' }, 1],
  ] as const)('of the calendar has one canonical form: %j', (options, named, longest) => {
    const policy = fixedWindow({ limit: 5, ...options });
    expect(policy).toEqual({ algorithm: 'fixedWindow', limit: 5, align: 'clock', ...named });
    const rule = fixedWindowKind.compile(JSON.parse(JSON.stringify(policy)));
    expect(rule.window).toBe(longest * 86_400_000_000);
    expect(rule.parameters.length).toBe(3 + (longest === 1 ? 15 : 8));
  });

  test.each([
    [{ limit: -1, window: '1s' }, /limit must be a whole number from 0 to 9007199254740991, not -1/],
    [{ limit: 1.5, window: '1s' }, /not 1.5/],
    [{ limit: Number.NaN, window: '1s' }, /not NaN/],
    [{ limit: '5', window: '1s' }, /not "5"/],
    [{ limit: 5, window: 0 }, /window must be a duration .* not 0/],
    [{ limit: 5, window: '-3 min' }, /not "-3 min"/],
    [{ limit: 5, window: '30s1m' }, /not "30s1m"/],
    [{ limit: 5, window: Number.POSITIVE_INFINITY }, /not Infinity/],
    [
      { limit: 5, window: '1s', max: 5 },
      /no option 'max'; its options are limit, window, align, timeZone, anchor/,
    ],
    [{ limit: 5, window: '1s', align: 'calendar' }, /align must be 'first-hit' or 'clock', not "calendar"/],
    [
      { limit: 5, window: '1d', align: 'first-hit', timeZone: 'UTC' },
      /timeZone is for windows of the calendar.* with align "first-hit" and window "1d"/,
    ],
    [{ limit: 5, window: '1h', align: 'clock', timeZone: 'UTC' }, /window "1h" leave it out/],
    [{ limit: 5, window: '1 month', align: 'first-hit' }, /cannot begin with the first call.* write days/],
    [{ limit: 5, window: '2 weeks' }, /a window of the calendar is '1 week', '1 month', .* or '1 year'/],
    [{ limit: 5, window: '5 months' }, /not "5 months"/],
    [{ limit: 5, window: '2 years' }, /not "2 years"/],
    [{ limit: 5, window: '1 fortnight' }, /window must be a duration .* not "1 fortnight"/],
    [{ limit: 5, window: '1d', anchor: 15 }, /anchor is for windows of the calendar/],
    [{ limit: 5, window: '1 week', anchor: 1 }, /a day of the week such as 'monday', not 1/],
    [{ limit: 5, window: '1 week', anchor: 'Monday' }, /not "Monday"/],
    [{ limit: 5, window: '1 month', anchor: 32 }, /a day of the month, 1 to 31 .* not 32/],
    [{ limit: 5, window: '1 month', anchor: '15' }, /not "15"/],
    [{ limit: 5, window: '1 month', anchor: 1.5 }, /not 1.5/],
    [{ limit: 5, window: '3 months', anchor: 15 }, /anchor of '3 months' must be a date.* '04-01', not 15/],
    [{ limit: 5, window: '12 months', anchor: '02-30' }, /anchor of '1 year' .* not "02-30"/],
    [{ limit: 5, window: '1 year', anchor: '4-1' }, /not "4-1"/],
    [{ limit: 5, window: '1 year', anchor: '13-01' }, /not "13-01"/],
    [
      { limit: 5, window: '1d', align: 'clock', timeZone: 'Mars/Olympus' },
      /IANA name .* not "Mars\/Olympus"/,
    ],
    [{ limit: 5, window: '1d', align: 'clock', timeZone: '+01:00' }, /not "\+01:00"/],
    [{ limit: 5, window: '1d', align: 'clock', timeZone: null }, /not null/],
    [undefined, /takes an options object/],
  ])('rejects the options %j', (options, message) => {
    expect(() => fixedWindow(options as never)).toThrow(message);
  });

  test('rejects the same in a policy from a file', () => {
    const policy = { algorithm: 'fixedWindow', limit: 5, window: 1000, aling: 'clock' } as const;
    expect(() => fixedWindowKind.compile(policy)).toThrow(/no option 'aling'/);
    expect(() => fixedWindowKind.compile({ ...policy, limit: -1 })).toThrow(TypeError);
  });
});
