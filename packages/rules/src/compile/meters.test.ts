import { concurrency, fixedWindow, tokenBucket } from '@sluice/core';
import { parseRules } from '../index.js';

const USD = 'usd: { fixedWindow: { limit: 100, window: 1h } }';
const meterOf = (more: string, axes = USD) => `meter:\n  ai:\n    axes:\n      ${axes}\n    ${more}\n`;

test('the limits of a meter are policies by axis', () => {
  const text = `
meter:
  ai:
    axes:
      usd: { fixedWindow: { limit: 100, window: 1 month, timeZone: UTC } }
      running: { concurrency: { limit: 8 } }
    soft: [usd]
    overrides: { 'tenant:acme': { usd: { limit: 900 } } }
`;
  const { meters, rules } = parseRules(text);
  expect(rules).toEqual([]);
  expect(meters.get('ai')).toEqual({
    axes: {
      usd: fixedWindow({ limit: 100, window: '1 month', timeZone: 'UTC' }),
      running: concurrency({ limit: 8 }),
    },
    soft: ['usd'],
    plans: undefined,
    overrides: { 'tenant:acme': { usd: { limit: 900 } } },
  });
});

test('the numbers of plans are policies by plan, first those of the default plan', () => {
  const axes = 'output: { tokenBucket: { capacity: $plan.tokens, refill: $plan.tokens, every: 1m } }';
  const plans = 'plans: { pro: { tokens: 500 }, free: { tokens: 5 } }\ndefaultPlan: free\n';
  const limits = parseRules(plans + meterOf('soft: []', axes)).meters.get('ai')!;
  const output = (tokens: number) => tokenBucket({ capacity: tokens, refill: tokens, every: '1m' });
  expect(Object.entries(limits.plans!)).toEqual([
    ['free', { output: output(5) }],
    ['pro', { output: output(500) }],
  ]);
  expect(limits.axes).toEqual({ output: output(5) });
});

const PLANS = 'plans: { free: { usd: 5 }, pro: { usd: 10 } }\n';
const PLANNED = 'usd: { fixedWindow: { limit: $plan.usd, window: 1h } }';

test.each([
  ['no rules and no meter', 'version: 1', "'rules' is missing: it must be a list of rules"],
  ['a misspelt field', meterOf('sofd: [usd]'), '5:5: a meter has no field "sofd"; did you mean \'soft\'?'],
  ['no axes', 'meter: { ai: { axes: {} } }', "meter 'ai' needs 1 to 20 axes"],
  ['an axis without an algorithm', meterOf('soft: []', 'usd: {}'), 'a limit has no algorithm'],
  [
    'a wrong number of an axis',
    meterOf('soft: []', 'usd: { fixedWindow: { limit: -1, window: 1h } }'),
    '4:36: fixedWindow: limit must be',
  ],
  [
    'a soft axis that is none',
    meterOf('soft: [usb]'),
    "5:12: meter 'ai' has no axis 'usb'; did you mean 'usd'?",
  ],
  [
    'an override of an axis that is none',
    meterOf('overrides: { ann: { us: { limit: 5 } } }'),
    "5:25: meter 'ai' has no axis 'us'; did you mean 'usd'?",
  ],
  [
    'an override of a number that the axis does not have',
    meterOf('overrides: { ann: { usd: { limti: 5 } } }'),
    "5:32: fixedWindow has no 'limti' here: limit, window; did you mean 'limit'?",
  ],
  [
    'an override with a wrong number',
    meterOf('overrides: { ann: { usd: { limit: 1.5 } } }'),
    'limit must be a whole number',
  ],
  ['numbers of plans without plans', meterOf('soft: []', PLANNED), 'and the document has no plans'],
  [
    'numbers of plans without a default plan',
    PLANS + meterOf('soft: []', PLANNED),
    "meter 'ai' uses $plan: add a defaultPlan",
  ],
  [
    'a number that a plan does not have',
    `${PLANS}defaultPlan: free\n${meterOf('soft: []', PLANNED.replace('$plan.usd', '$plan.uds'))}`,
    "plan 'free' has no number 'uds'; did you mean 'usd'?",
  ],
])('parseRules refuses %s of a meter', (_, text, message) => {
  expect(() => parseRules(text)).toThrow(message);
});
