import { concurrency, concurrencyAlgorithm, concurrencyKind } from './concurrency.js';

test('a policy is plain data with the defaults filled in', () => {
  expect(concurrency({ limit: 2 })).toEqual({ algorithm: 'concurrency', limit: 2, lease: 30_000 });
  expect(concurrency({ limit: 2, lease: '1m', queue: 1000 })).not.toHaveProperty('queue');
  expect(concurrency({ limit: 1, lease: 100, queue: 0 })).toEqual({
    algorithm: 'concurrency',
    limit: 1,
    lease: 100,
    queue: 0,
  });
});

test('compile checks a policy again, because it may come from a file', () => {
  expect(concurrencyKind.compile(concurrency({ limit: 3 }))).toEqual({
    algorithm: concurrencyAlgorithm,
    parameters: [3, 30_000_000, 1000],
    limit: 3,
    window: 30_000_000,
  });
  expect(concurrencyKind.compile(concurrency({ limit: 1, lease: 100.5, queue: 0 })).parameters).toEqual([
    1, 100_500, 0,
  ]);
  expect(() => concurrencyKind.compile({ algorithm: 'concurrency', limit: 2, lease: 5 })).toThrow(RangeError);
});

test.each([
  [{ limit: -1 }, /limit must be a whole number from 0 to 10000, not -1/],
  [{ limit: 10_001 }, /not 10001/],
  [{ limit: Number.NaN }, /not NaN/],
  [{ limit: '5' }, /not "5"/],
  [{ limit: 5, queue: -1 }, /queue must be a whole number from 0 to 10000, not -1/],
  [{ limit: 5, lease: '99ms' }, /lease must be from '100ms' to '1d', not "99ms"/],
  [{ limit: 5, lease: '1d1ms' }, /not "1d1ms"/],
  [{ limit: 5, lease: 0 }, /lease must be a duration .* not 0/],
  [{ limit: 5, window: '1s' }, /no option 'window'; its options are limit, lease, queue/],
  [undefined, /takes an options object/],
])('rejects the options %j', (options, message) => {
  expect(() => concurrency(options as never)).toThrow(message);
});
