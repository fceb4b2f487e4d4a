import { isKeyResolutionError } from '@sluice/core';
import type { RequestView } from '@sluice/http';
import { meter } from '@sluice/meter';
import fc from 'fast-check';
import { parse } from 'yaml';
import { cases } from '../../../../tests/support/runs.js';
import { isRulesError, parseRules, type RuleSet, Rules, runTests } from '../index.js';

const DOCUMENT = `version: 41
name: shop
plans: &plans
  free: { perMinute: 2, every: 1m }
  pro: { perMinute: 4, every: 1m }
defaultPlan: free
rules:
  - name: api
    match:
      method: [GET, POST]
      path: [/v1/*, /v2/:id/x*y]
      host: '*.example.com'
      not: { path: /v1/health, header: { x-probe: 'true' } }
    key: '#{user.id}:#{method}'
    plan: '#{user.plan}'
    limits:
      bucket: { tokenBucket: { capacity: $plan.perMinute, refill: $plan.perMinute, every: $plan.every } }
      window: { fixedWindow: { limit: 5, window: 1 month, anchor: 31, timeZone: Europe/Berlin }, notify: [80%, 100%] }
      sliding: { slidingWindow: { limit: 5, window: 1m, slots: 6 } }
    cost: "#{headers['x-cost']}"
    escalate: { after: 3, within: 1h, block: [1m, 10m], forgive: 1d }
    reply: { status: 503, body: { error: [busy, 1, null] }, headers: { x-why: 5 } }
  - name: health
    match: { path: /v1/health }
    unlimited: true
    replaces: [api, login]
  - { name: login, match: { method: POST, path: /login }, limit: { slidingLog: { limit: 5, window: 15m } } }
  - { name: next, mode: shadow, compare: api, limit: { gcra: { limit: 5, period: 60000, burst: 2 } } }
  - { name: jobs, limit: { concurrency: { limit: 2, lease: 30s } }, key: USER }
meter:
  ai:
    axes:
      usd: { fixedWindow: { limit: $plan.perMinute, window: 1 month, timeZone: UTC } }
      running: { concurrency: { limit: 8 } }
    soft: [running]
    overrides: { acme: { usd: { limit: 900 }, running: { limit: 2, lease: 1m } } }
tests:
  - name: free
    given: [{ path: /v1/a, host: api.example.com, user: { id: 1 }, times: 3 }, { rule: jobs, key: a, times: 3 }]
    expect: { denied: 2 }
rollout: { percent: 10, by: '#{user.id}' }
`;
const JSON_DOCUMENT = JSON.stringify(parse(DOCUMENT), null, 1);

const requests: RequestView[] = [
  { path: '/v1/a', user: { id: 1, plan: 'pro' }, headers: { host: 'api.example.com', 'x-cost': '2' } },
  { path: '/v2/7/xxy', user: { id: 'ann', plan: 'none' }, headers: { host: 'a.example.com:80' } },
  { path: '/v1/health', user: undefined, headers: {} },
  { method: 'POST', path: '/login', user: undefined, headers: { 'x-cost': 'many' } },
].map((given) => ({ ip: '203.0.113.7', method: 'GET', params: {}, query: {}, body: undefined, ...given }));

const HOSTILE = [
  ...[
    'null',
    '~',
    '[]',
    '{}',
    '-1',
    '0',
    '1e999',
    '.nan',
    '.inf',
    '0x10',
    '""',
    "''",
    'true',
    '*plans',
    '*nobody',
  ],
  ...[
    '&a',
    '!!js/function x',
    '!!set {}',
    '__proto__: 1',
    '<<: *plans',
    '? a',
    '- ',
    ': ',
    '"',
    "'",
    '\0',
    '\t',
    '\u2028',
  ],
  ...[
    '---\n',
    '...\n',
    '%YAML 1.1\n',
    '|\n',
    '>\n',
    '\uD800',
    '💥',
    '#{',
    '#{a.b[*].c}',
    '$plan.',
    '$plan.__proto__',
  ],
  ...['constructor', 'toString', '/*/**', ':a/:a', '9007199254740993', '[[[[[[', '}}}}', 'x'.repeat(5000)],
];
const WORDS = [...new Set(DOCUMENT.match(/[\w.$#/*{}'-]+/g))];

/** One change of a text: at a place, of some length, to another text. */
const mutation = fc.tuple(
  fc.nat(),
  fc.oneof(fc.constant(0), fc.nat({ max: 12 }), fc.nat({ max: 200 })),
  fc.oneof(
    fc.constant(''),
    fc.constantFrom(...HOSTILE),
    fc.constantFrom(...WORDS),
    fc.string({ maxLength: 5, unit: 'binary' }),
    fc.constantFrom('\n', '\n  ', ' ', '  '),
  ),
);

type Mutation = [at: number, length: number, inserted: string];
/** At words and at any character. */
function mutated(text: string, mutations: readonly Mutation[]): string {
  let made = text;
  for (const [at, length, inserted] of mutations) {
    const start = at % (made.length + 1);
    made = made.slice(0, start) + inserted + made.slice(start + length);
  }
  return made;
}

/** @returns undefined for a text that was refused with a place */
function accepted(text: string): RuleSet | undefined {
  try {
    return parseRules(text);
  } catch (error) {
    if (!isRulesError(error)) throw error;
    const lines = text.split(/\r\n|\r|\n/).length;
    for (const { line, column, message } of error.problems) {
      if (!(line! >= 1 && line! <= lines && column! >= 1 && message.length > 0))
        throw new Error(`no place: ${error.message}`);
    }
    return undefined;
  }
}

async function decides(set: RuleSet): Promise<void> {
  await runTests(set);
  const rules = new Rules(set);
  for (const request of requests) {
    try {
      await rules.decide(request);
    } catch (error) {
      if (!isKeyResolutionError(error)) throw error;
    }
  }
  for (const [name, { overrides = {}, plans = {} }] of set.meters) {
    const keys = ['some', ...Object.keys(overrides)].slice(0, 10);
    const budgets = [undefined, ...Object.keys(plans)].map((plan) =>
      meter({ name, rules, scopes: () => keys.map((key) => ({ key, plan })) }),
    );
    for (const budget of budgets) {
      await budget.status('');
      await budget.close();
    }
  }
  await rules.close();
}

const numRuns = cases(1_000, 10_000);
test(`each of ${numRuns} mutated documents is refused with a place, or its rules decide`, async () => {
  const counts = { refused: 0, run: 0 };
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(DOCUMENT, JSON_DOCUMENT),
      fc.array(mutation, { minLength: 1, maxLength: 3 }),
      async (text, mutations) => {
        const set = accepted(mutated(text, mutations));
        counts[set === undefined ? 'refused' : 'run'] += 1;
        if (set !== undefined) await decides(set);
      },
    ),
    { numRuns },
  );
  // If either outcome were rare, the test would prove little.
  expect(Math.min(counts.refused, counts.run)).toBeGreaterThan(numRuns / 20);
}, 300_000);

test('the tests of the unchanged document pass', async () => {
  expect((await runTests(parseRules(DOCUMENT))).failed).toEqual([]);
  expect((await runTests(parseRules(JSON_DOCUMENT))).failed).toEqual([]);
});
