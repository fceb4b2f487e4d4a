import { type Costs, checkCost, costFor, costOption, NO_OPTIONS, waitOptions } from './call-options.js';

const POLICIES = ['perMinute', 'perDay'];
const costsOf = (costs: Costs) => POLICIES.map((policy) => costFor(costs, policy));

test('a cost applies to all policies, or by policy name; an unnamed policy costs 1', () => {
  expect(costsOf(costOption('consume', NO_OPTIONS, POLICIES))).toEqual([1, 1]);
  expect(costsOf(costOption('consume', {}, POLICIES))).toEqual([1, 1]);
  expect(costsOf(costOption('consume', { cost: 5 }, POLICIES))).toEqual([5, 5]);
  expect(costsOf(costOption('consume', { cost: { perDay: 7 } }, POLICIES))).toEqual([1, 7]);
  expect(costsOf(costOption('consume', { cost: { perDay: 0, perMinute: 3 } }, POLICIES))).toEqual([3, 0]);
  const inherited = Object.create({ perDay: 9 });
  expect(costsOf(checkCost('cost', inherited, POLICIES))).toEqual([1, 1]);
});

test.each([
  [-1, RangeError],
  [Number.NaN, RangeError],
  ['5', RangeError],
  [null, RangeError],
  [{ perDay: -1 }, /^cost.perDay must be a whole number/],
  [{ perDay: undefined }, RangeError],
  [{ perYear: 1 }, /^cost by policy has no option 'perYear'; its options are perMinute, perDay$/],
  [[1, 2], TypeError],
])('rejects a cost of %j', (cost, error) => {
  expect(() => checkCost('cost', cost as never, POLICIES)).toThrow(error);
});

test.each([[5], [null], [[]], [{ csot: 1 }], [{ cost: 1, timeout: 1 }]])(
  'rejects the options %j',
  (options) => {
    expect(() => costOption('consume', options as never, POLICIES)).toThrow(TypeError);
  },
);

test('waitOptions accepts a duration as timeout and an AbortSignal as signal', () => {
  const { signal } = new AbortController();
  expect(waitOptions('acquire', {})).toEqual({ timeout: undefined, signal: undefined });
  expect(waitOptions('acquire', { timeout: '1.5s', signal })).toEqual({ timeout: 1_500_000, signal });
  expect(waitOptions('acquire', { timeout: 0 })).toMatchObject({ timeout: 0 });
  expect(() => waitOptions('acquire', { timeout: -1 })).toThrow(/^acquire: timeout must be a duration/);
  expect(() => waitOptions('acquire', { signal: {} as never })).toThrow(
    /^acquire: signal must be an AbortSignal/,
  );
});
