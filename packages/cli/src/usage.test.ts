import { memoryStore } from '@sluice/core';
import type { LimiterUsageReport, UsageReport } from '@sluice/fleet';
import type { Context } from './command.js';
import type { Fleet } from './fleet.js';
import { keyUseRows, rateRows, spentRows, topRows, usageOf } from './usage.js';

const zeros = [0, 0, 0];
const none = { allowed: zeros, denied: zeros, canceled: zeros, error: zeros, degraded: zeros };
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

test('shadow decisions have rows of their own, below the enforced ones', () => {
  const { rows, rates } = rateRows(usage, 10);
  expect(rows).toEqual([
    ['api', '10.0', '2.5', '20 %', '0'],
    ['api (shadow)', '0', '0.10', '100 %', '0'],
    ['next (shadow)', '3.0', '1.0', '25 %', '0'],
    ['quiet', '0', '0', '0 %', '0'],
  ]);
  expect(rates.map(({ mode }) => mode)).toEqual(['enforce', 'shadow', 'shadow', 'enforce']);
});

test('in the first minute, the rate is computed over the time since the first call', () => {
  const young = { ...report('young', { allowed: [0, 20, 10], denied: [0, 0, 30] }), span: 15_000 };
  const old = { ...report('old', { allowed: [0, 600, 10] }), span: 75_000 };
  const read = { limiters: [young, old] } as unknown as UsageReport;
  expect(rateRows(read, 60).rows).toEqual([
    ['young', '2.0', '2.0', '50 %', '0'],
    ['old', '10.0', '0', '0 %', '0'],
  ]);
});

test('a limiter name selects the rows of that limiter', () => {
  expect(rateRows(usage, 10, 'next').rows).toEqual([['next (shadow)', '3.0', '1.0', '25 %', '0']]);
});

test('key use is shown for each limit, as a number of keys and quantiles', () => {
  const use = { p50: 0.005, p90: 0.5, p99: 1, max: 1 };
  const keyUse = { keys: 4_711, error: 0.02, policies: [{ policy: 'perDay', keys: 12, use }] };
  const next = { ...report('next', {}, { allowed: [0, 1, 0] }), shadowKeyUse: keyUse };
  const { rates } = rateRows({ limiters: [next, report('api', {})] } as unknown as UsageReport, 10);
  expect(keyUseRows(rates)).toEqual({
    heads: ['LIMIT', 'KEYS', 'USE P50', 'P90', 'P99', 'MAX'],
    rows: [['next perDay (shadow)', '12 ± 1', '1 %', '50 %', '100 %', '100 %']],
  });
});

describe('the keys denied most', () => {
  const combined = (members: object) => ({
    definition: { name: 'rules', kind: 'combined', policies: {}, members },
  });
  const fleet = {
    limiters: [combined({ api: 'rules.api' }), combined({ api: 'rules.api', sms: 'rules.sms' })],
  } as unknown as Fleet;
  const key = { key: 'ann', count: 3, error: 0 };
  const counted = {
    limiters: [
      { limiter: 'login', denied: [key] },
      {
        limiter: 'rules',
        denied: [
          { ...key, scope: 'sms' },
          { ...key, scope: 'gone' },
        ],
      },
      {
        limiter: '(other)',
        denied: [
          { ...key, scope: 'lone' },
          { ...key, scope: 'rules api' },
        ],
      },
    ],
  } as unknown as UsageReport;
  const limitersOf = (only?: string) =>
    topRows(counted, fleet, 'denied', 9, only).rows.map(([limiter]) => limiter);

  test('are shown with the limiter name that other commands accept', () => {
    expect(limitersOf()).toEqual(['login', 'rules.sms', 'rules (gone)', 'lone', 'rules.api']);
  });

  test('have the policy that denied them, in a column of its own if a limiter has several', () => {
    expect(topRows(counted, fleet, 'denied', 9).heads).toEqual(['LIMITER', 'KEY', 'DENIED']);
    const limiters = counted.limiters.map((report) => ({
      ...report,
      denied: report.denied.map((key, i) => (i === 0 ? { ...key, policy: 'perDay' } : key)),
    }));
    const { heads, rows } = topRows({ ...counted, limiters }, fleet, 'denied', 9);
    expect(heads).toEqual(['LIMITER', 'POLICY', 'KEY', 'DENIED']);
    expect(rows.map(([, policy]) => policy)).toContain('perDay');
  });

  test('can be selected by limiter, or by combination', () => {
    expect(limitersOf('rules.api')).toEqual(['rules.api']);
    expect(limitersOf('rules')).toEqual(['rules.sms', 'rules (gone)', 'rules.api']);
  });
});

test('amounts of a meter are listed apart by axis, also if they were counted with other limiters', () => {
  const policy = { algorithm: 'fixedWindow', limit: 5 };
  const meter = { axes: { usd: policy, output: policy }, soft: [], scopes: {} };
  const fleet = {
    limiters: [{ definition: { name: 'ai', kind: 'meter', policies: {}, meter } }],
  } as unknown as Fleet;
  const key = { key: 'ann', count: 3, error: 0 };
  const counted = {
    limiters: [
      { limiter: 'login', costly: [key] },
      { limiter: 'ai:usd', costly: [{ ...key, count: 900 }] },
      {
        limiter: '(other)',
        costly: [
          { ...key, scope: 'ai:output', count: 70 },
          { ...key, scope: 'sms' },
        ],
      },
    ],
  } as unknown as UsageReport;
  const limitersOf = (only?: string) =>
    topRows(counted, fleet, 'costly', 2, only).rows.map(([limiter]) => limiter);
  expect([limitersOf(), limitersOf('ai')]).toEqual([['login', 'sms'], []]);
  expect(spentRows(counted, fleet, 2).rows).toEqual([
    ['ai', 'usd', 'ann', '900'],
    ['ai', 'output', 'ann', '70'],
  ]);
});

test('without any usage counts, the error names the option and a command that works without it', async () => {
  const context = { store: memoryStore(), ask: (reply: unknown) => reply, notes: { leftOut() {} } };
  await expect(usageOf(context as unknown as Context)).rejects.toMatchObject({
    message: 'No process has counted its calls in the last 15 minutes.',
    remedy: expect.stringMatching(/usage: true.* sluice tail shows denials without it\.$/),
  });
});
