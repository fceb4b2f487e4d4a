import { fixedWindow, fixedWindowAlgorithm, fixedWindowKind } from './fixed-window.js';

describe('the policy', () => {
  test('is plain data that names only what is not the default', () => {
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
    expect(fixedWindowAlgorithm.size(rule.parameters)).toEqual({ limit: 5, window: 86_400_000_000 });
    expect([rule.limit, rule.window, rule.parameters.slice(0, 3)]).toEqual([
      5,
      86_400_000_000,
      [5, 86_400_000_000, 2],
    ]);
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
    [{ limit: 5, window: '1s', max: 5 }, /no option 'max'; its options are limit, window, align, timeZone/],
    [{ limit: 5, window: '1s', align: 'calendar' }, /align must be 'first-hit' or 'clock', not "calendar"/],
    [
      { limit: 5, window: '1d', timeZone: 'UTC' },
      /timeZone is for calendar days.* with align "first-hit" and window "1d"/,
    ],
    [
      { limit: 5, window: '1h', align: 'clock', timeZone: 'UTC' },
      /exactly one day\).* window "1h" leave it out/,
    ],
    [
      { limit: 5, window: '1d', align: 'clock', timeZone: 'Mars/Olympus' },
      /IANA name .* not "Mars\/Olympus"/,
    ],
    [{ limit: 5, window: '1d', align: 'clock', timeZone: '+01:00' }, /not "\+01:00"/],
    [{ limit: 5, window: '1d', align: 'clock', timeZone: null }, /not null/],
    [undefined, /takes an options object/],
  ])('refuses %j', (options, message) => {
    expect(() => fixedWindow(options as never)).toThrow(message);
  });

  test('refuses the same in a policy that comes from a file', () => {
    const policy = { algorithm: 'fixedWindow', limit: 5, window: 1000, aling: 'clock' } as const;
    expect(() => fixedWindowKind.compile(policy)).toThrow(/no option 'aling'/);
    expect(() => fixedWindowKind.compile({ ...policy, limit: -1 })).toThrow(TypeError);
  });
});
