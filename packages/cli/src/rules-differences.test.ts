import { parseRules, type RulesDocument } from '@sluice/rules';
import { differenceLine, differences } from './rules-differences.js';

const api = {
  name: 'api',
  match: { path: '/v1/*' },
  plan: '#{user.plan}',
  limits: {
    perMinute: { fixedWindow: { limit: '$plan.perMinute', window: '1m' } },
    perDay: { fixedWindow: { limit: 1000, window: '1d' } },
  },
};
const sms = { name: 'sms', limit: { fixedWindow: { limit: 1, window: '1m' } } };
const plans = { free: { perMinute: 60 }, pro: { perMinute: 600 } };
const document: RulesDocument = { version: 41, plans, defaultPlan: 'free', rules: [api, sms] };

const linesOf = (before: RulesDocument | undefined, after: RulesDocument) =>
  differences(before && parseRules(before), parseRules(after)).map(differenceLine);

test('a changed limit is shown with its rule, limit and plan, before and after', () => {
  const limits = { ...api.limits, perDay: { gcra: { limit: 1000, period: '1d' } } };
  const after: RulesDocument = {
    ...document,
    version: 42,
    plans: { ...plans, pro: { perMinute: 900 } },
    rules: [
      { ...api, key: '#{user.id}', limits },
      { name: 'health', match: { path: '/health' }, unlimited: true },
    ],
    rollout: { percent: 10 },
  };
  expect(linesOf(document, after)).toEqual([
    '~ version: 41 → 42',
    '~ rollout: none → {"percent":10}',
    '- sms: removed',
    '~ api, key: none → #{user.id}',
    '~ api, perDay: 1000 per 1 d (fixedWindow) → 1000 per 1 d (gcra) (its counts start from zero)',
    '~ api, perMinute of plan pro: 600 per 1 min (fixedWindow) → 900 per 1 min (fixedWindow)',
    '+ health: unlimited',
  ]);
});

test('a key that becomes a list counts from zero, and a match by network is shown', () => {
  const after: RulesDocument = {
    ...document,
    rules: [{ ...api, key: ['USER', 'IP'], match: { path: '/v1/*', ip: '10.0.0.0/8' } }, sms],
  };
  expect(linesOf({ ...document, rules: [{ ...api, key: 'USER' }, sms] }, after)).toEqual([
    '~ api, match: {"path":"/v1/*"} → {"path":"/v1/*","ip":"10.0.0.0/8"}',
    '~ api, key: USER → ["USER","IP"] (its counts start from zero)',
  ]);
});

test('an unchanged document shows nothing, a first document only additions, and a new order of rules is shown', () => {
  expect(linesOf(document, document)).toEqual([]);
  expect(linesOf(undefined, { rules: [sms] })).toEqual(['+ sms: limit 1 per 1 min (fixedWindow)']);
  expect(linesOf(document, { ...document, rules: [sms, api] })).toEqual(['~ order: api, sms → sms, api']);
  expect(linesOf(document, { ...document, name: 'other' })).toEqual([
    '~ name: none → other (all counts start from zero)',
  ]);
});

test('a cost or an escalation that depends on the plan is shown for each plan that changed', () => {
  const exports = {
    ...api,
    cost: '$plan.perMinute',
    escalate: { after: 3, within: '1h', block: ['$plan.block'] },
  };
  const documentWith = (block: string, perMinute: number): RulesDocument => ({
    plans: { free: { perMinute: 60, block: '1h' }, pro: { perMinute, block } },
    defaultPlan: 'free',
    rules: [exports],
  });
  expect(linesOf(documentWith('1m', 600), documentWith('5m', 900))).toEqual([
    '~ api, cost of plan pro: 600 → 900',
    '~ api, escalate of plan pro: {"after":3,"within":"1h","block":["1m"]} → {"after":3,"within":"1h","block":["5m"]}',
    '~ api, perMinute of plan pro: 600 per 1 min (fixedWindow) → 900 per 1 min (fixedWindow)',
  ]);
});

test('changed tests are shown by their number, or as changed if there are as many', () => {
  const withTests = (...denied: number[]): RulesDocument => ({
    rules: [sms],
    tests: denied.map((count) => ({
      given: { rule: 'sms', key: 'a', times: count + 1 },
      expect: { denied: count },
    })),
  });
  expect(linesOf(withTests(1, 2), withTests(1, 3))).toEqual(['~ tests: changed']);
  expect(linesOf(withTests(1, 2), withTests(1, 2, 3))).toEqual(['~ tests: 2 tests → 3 tests']);
});

test('an added threshold is shown', () => {
  const notified = { name: 'sms', limit: { ...sms.limit, notify: ['80%'] } };
  expect(linesOf({ rules: [sms] }, { rules: [notified] })).toEqual(['~ sms, notify: none → ["80%"]']);
});

test('a changed meter is shown by axis, plan and key', () => {
  const usd = { fixedWindow: { limit: '$plan.perMinute', window: '1h' } };
  const running = { concurrency: { limit: 8 } };
  const before: RulesDocument = {
    ...document,
    meter: {
      ai: { axes: { usd, running }, overrides: { acme: { usd: { limit: 5 } } } },
      old: { axes: { running } },
    },
  };
  const after: RulesDocument = {
    ...document,
    plans: { ...plans, pro: { perMinute: 900 } },
    meter: {
      ai: {
        axes: { usd, running: { fixedWindow: { limit: 8, window: '1h' } }, more: running },
        soft: ['usd'],
        overrides: { acme: { usd: { limit: 6 } }, bob: { usd: { limit: 1 } } },
      },
      next: { axes: { usd } },
    },
  };
  const ofMeters = linesOf(before, after).filter((line) => line.includes('meter '));
  expect(ofMeters).toEqual([
    '~ meter ai, usd of plan pro: 600 per 1 h (fixedWindow) → 900 per 1 h (fixedWindow)',
    '~ meter ai, running: 8 at the same time, leases of 30 s (concurrency) → 8 per 1 h (fixedWindow) (its counts start from zero)',
    '~ meter ai, usd of acme: {"limit":5} → {"limit":6}',
    '+ meter ai, more: 8 at the same time, leases of 30 s (concurrency)',
    '+ meter ai, usd of bob: {"limit":1}',
    '+ meter ai, soft: usd',
    '- meter old: removed',
    '+ meter next: usd 60 per 1 h (fixedWindow)',
  ]);
  expect(linesOf(before, before)).toEqual([]);
});
