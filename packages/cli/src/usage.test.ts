import type { LimiterUsageReport, UsageReport } from '@sluice/core';
import { rateRows } from './usage.js';

const none = { allowed: [0, 0, 0], denied: [0, 0, 0], canceled: [0, 0, 0], error: [0, 0, 0] };
const report = (limiter: string, enforced: Partial<typeof none>, shadow: Partial<typeof none> = {}) =>
  ({
    limiter,
    decisions: { ...none, ...enforced },
    shadowDecisions: { ...none, ...shadow },
  }) as Partial<LimiterUsageReport> as LimiterUsageReport;
const usage = {
  limiters: [
    report('quiet', {}),
    report('next', {}, { allowed: [0, 30, 0], denied: [0, 10, 0] }),
    report('api', { allowed: [0, 100, 5], denied: [0, 25, 5] }, { denied: [0, 1, 0] }),
  ],
} as unknown as UsageReport;

test('decisions in shadow mode have rows of their own, below those that were enforced', () => {
  const { rows, rates } = rateRows(usage, 10);
  expect(rows).toEqual([
    ['api', '10.0', '2.5', '20 %', '0'],
    ['api (shadow)', '0', '0.10', '100 %', '0'],
    ['next (shadow)', '3.0', '1.0', '25 %', '0'],
    ['quiet', '0', '0', '0 %', '0'],
  ]);
  expect(rates.map(({ mode }) => mode)).toEqual(['enforce', 'shadow', 'shadow', 'enforce']);
});

test('one limiter', () => {
  expect(rateRows(usage, 10, 'next').rows).toEqual([['next (shadow)', '3.0', '1.0', '25 %', '0']]);
});
