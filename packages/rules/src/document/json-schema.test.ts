import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parse } from 'yaml';
import { parseRules } from '../index.js';

const schema = JSON.parse(readFileSync(resolve(__dirname, '../../schema.json'), 'utf8'));
/** A JSON Schema validator other than zod; Fastify installs it. */
const Ajv = require('ajv') as new (
  options: object,
) => { compile(schema: object): (data: unknown) => boolean };
const validate = new Ajv({ strict: false }).compile(schema);

const COMPLETE = `
# yaml-language-server: $schema=./node_modules/@sluice/rules/schema.json
version: 41
name: shop
hashTag: orders
plans: { free: { perMinute: 60, every: 1m }, pro: { perMinute: 600, every: 1m } }
defaultPlan: free
rules:
  - name: api
    match: { method: [GET, POST], path: [/v1/*], host: '*.example.com', header: { x-beta: true }, not: { path: /v1/health } }
    key: '#{user.id}'
    plan: '#{user.plan}'
    limits:
      bucket: { tokenBucket: { capacity: $plan.perMinute, refill: $plan.perMinute, every: $plan.every, mode: interval } }
      window: { fixedWindow: { limit: 5, window: 1d, align: clock, timeZone: Europe/Berlin }, notify: [80%, 100%] }
      sliding: { slidingWindow: { limit: 5, window: 1m, slots: 6 } }
      log: { slidingLog: { limit: 5, window: 1m } }
      leaky: { leakyBucket: { capacity: 5, leak: 1, every: 1s } }
      cell: { gcra: { limit: 5, period: 1m, burst: 2 } }
      open: { concurrency: { limit: 5, lease: 30s } }
    cost: '#{headers.x-cost}'
    escalate: { after: 3, within: 1h, block: [1m, 10m], forgive: 1d }
    reply: { status: 503, body: { error: busy }, headers: { x-why: 5 } }
  - { name: health, match: { path: /v1/health, not: [{ method: POST }] }, unlimited: true, replaces: [api] }
  - { name: next, mode: shadow, compare: api, limit: { gcra: { limit: 5, period: 60000 } } }
meter:
  ai:
    axes:
      usd: { fixedWindow: { limit: $plan.perMinute, window: 1 month, timeZone: UTC } }
      running: { concurrency: { limit: 8 } }
    soft: [usd]
    overrides: { 'tenant:acme': { usd: { limit: 900 } } }
tests:
  - name: one
    given: [{ path: /v1/a, user: { id: 1 }, times: 2, every: 1s, at: 2025-01-01T00:00:00Z }, { rule: next, key: a, plan: pro }]
    expect: { allowed: 3, denied: 0 }
rollout: { percent: 10, by: key }
`;

test('the JSON schema and parseRules accept the same complete document', () => {
  expect(validate(parse(COMPLETE))).toBe(true);
  expect(parseRules(COMPLETE).rules).toHaveLength(3);
});

test('the JSON schema and parseRules accept a document that has a meter only', () => {
  const text = 'meter: { ai: { axes: { usd: { gcra: { limit: 1, period: 1m } } } } }';
  expect(validate(parse(text))).toBe(true);
  expect([...parseRules(text).meters.keys()]).toEqual(['ai']);
});

test.each([
  ['rules: []'],
  ['rules: [{ name: a }, 5]'],
  ['rules: [{ name: a.b, limit: { gcra: { limit: 1, period: 1m } } }]'],
  ['rules: [{ name: a, limit: { gcra: { limit: 1, period: 1m }, slidingLog: { limit: 1, window: 1m } } }]'],
  ['rules: [{ name: a, limit: {} }]'],
  ['rules: [{ name: a, limit: { gcra: { limit: 1 } } }]'],
  ['rules: [{ name: a, limit: { gcra: { limit: $plan, period: 1m } } }]'],
  ['rules: [{ name: a, mode: off, limit: { gcra: { limit: 1, period: 1m } } }]'],
  ['rules: [{ name: a, limit: { gcra: { limit: 1, period: 1m, brust: 1 } } }]'],
  ['{ rules: [{ name: a, limit: { gcra: { limit: 1, period: 1m } } }], rollout: { percent: 101 } }'],
  ['{}'],
  ['meter: []'],
  ['meter: { ai: {} }'],
  ['meter: { ai: { axes: { usd: {} } } }'],
  ['meter: { ai: { axes: { a.b: { gcra: { limit: 1, period: 1m } } } } }'],
  ['meter: { ai: { axes: { usd: { gcra: { limit: 1, period: 1m } } }, overrides: { ann: { usd: 5 } } } }'],
  ['meter: { ai: { axes: { usd: { fixedWindow: { limit: 1, window: 1m }, notify: [80%] } } } }'],
  ['{ rules: [{ name: a, limit: { gcra: { limit: 1, period: 1m } } }], tests: [{ given: {} }] }'],
])('the JSON schema and parseRules both refuse %s', (text) => {
  expect(validate(parse(text))).toBe(false);
  expect(() => parseRules(text)).toThrow();
});
