import { ms } from '../../../../../tests/support/timeline.js';
import { NEVER, type State } from '../algorithm.js';
import { gcra, gcraKind } from './gcra.js';

const START = 1_735_689_600_000_000;

/** Takes one permit at each of the moments (µs after START). Returns the wait of each, 0 if it passed. */
function waits(options: Parameters<typeof gcra>[0], moments: readonly number[]): number[] {
  const { algorithm, parameters } = gcraKind.compile(gcra(options));
  let state: State | undefined;
  return moments.map((moment) => {
    const now = START + moment;
    if (state !== undefined && state[0]! <= now) state = undefined;
    const wait = algorithm.wait(parameters, state, now, 1);
    if (wait === 0) state = algorithm.take(parameters, state, now, 1);
    return wait;
  });
}

test('with 5 a second and a burst of 1, one call passes each 200 ms', () => {
  expect(waits({ limit: 5, period: '1s', burst: 1 }, [0, 1, ms(199), ms(200), ms(399), ms(400)])).toEqual([
    0,
    ms(200) - 1,
    ms(1),
    0,
    ms(1),
    0,
  ]);
});

test('each call moves the arrival time on by one interval; a burst of 3 allows three at once', () => {
  const moments = [0, 0, 0, 0, ms(200), ms(200), ms(1000), ms(1000), ms(1000), ms(1000)];
  expect(waits({ limit: 5, period: '1s', burst: 3 }, moments)).toEqual([
    0,
    0,
    0,
    ms(200),
    0,
    ms(200),
    0,
    0,
    0,
    ms(200),
  ]);
});

test('burst defaults to the limit, and is then not part of the policy', () => {
  expect(waits({ limit: 2, period: '1s' }, [0, 0, 0])).toEqual([0, 0, ms(500)]);
  expect(gcra({ limit: 2, period: '1s', burst: 2 })).toEqual({ algorithm: 'gcra', limit: 2, period: 1000 });
  expect(gcra({ limit: 2, period: '1s', burst: 7 })).toMatchObject({ burst: 7 });
});

test('an interval that is not a whole number of µs is exact: 7 a second allow 7,000 in 1,000 s', () => {
  const { algorithm, parameters } = gcraKind.compile(gcra({ limit: 7, period: '1s', burst: 2 }));
  let state: State | undefined;
  let now = START;
  for (let i = 0; i < 7002; i++) {
    now += algorithm.wait(parameters, state, now, 1);
    state = algorithm.take(parameters, state !== undefined && state[0]! > now ? state : undefined, now, 1);
  }
  // The first two at once, then one each seventh of a second.
  expect(now - START).toBe(1_000_000_000);
});

test('the limit of a policy is its burst, and a cost above it never passes', () => {
  const { algorithm, parameters, limit, window } = gcraKind.compile(
    gcra({ limit: 5, period: '1s', burst: 3 }),
  );
  expect([limit, window]).toEqual([3, ms(600)]);
  expect(algorithm.wait(parameters, undefined, START, 4)).toBe(NEVER);
});

test.each([
  [{ limit: -1, period: '1s' }, /limit must be a whole number from 0 .* not -1/],
  [{ limit: 5, period: 0 }, /period must be a duration/],
  [{ limit: 5, period: '1s', burst: -1 }, /burst must be a whole number from 0 .* not -1/],
  [{ limit: 5, period: '1s', burst: 1.5 }, /not 1.5/],
  [{ limit: 5, window: '1s' }, /no option 'window'/],
  [
    { limit: 1, period: '1d', burst: 4000 },
    /burst 4000 with limit 1 in a period of 86400000 ms .* 3650 days/,
  ],
])('rejects the options %j', (options, message) => {
  expect(() => gcra(options as never)).toThrow(message);
  expect(() => gcraKind.compile({ algorithm: 'gcra', ...options } as never)).toThrow(message);
});
