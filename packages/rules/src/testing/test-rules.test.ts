import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseRules, type RulesDocument, testRules } from '../index.js';

const LIMITS = `
plans: { free: { perMinute: 60 }, pro: { perMinute: 600 } }
defaultPlan: free
rules:
  - name: api
    match: { path: /v1/* }
    key: '#{user.id}'
    plan: '#{user.plan}'
    limits: { perMinute: { fixedWindow: { limit: $plan.perMinute, window: 1m } } }
  - name: sms
    limit: { fixedWindow: { limit: 1, window: 1m } }
tests:
`;

const FREE = '{ path: /v1/a, user: { id: ann, plan: free }';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'rules-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

test.each([
  [
    'denials and what denied them',
    `- { given: ${FREE}, times: 61 }, expect: { denied: 1, by: api.perMinute } }`,
  ],
  [
    'another plan',
    '- { given: { path: /v1/a, user: { id: ann, plan: pro }, times: 61 }, expect: { denied: 0 } }',
  ],
  ['time between requests', `- { given: ${FREE}, times: 61, every: 1s }, expect: { denied: 0 } }`],
  [
    'several steps, in one memory',
    `- { given: [${FREE}, times: 60 }, ${FREE}, after: 30s }, ${FREE}, after: 30s }], expect: { allowed: 61, denied: 1 } }`,
  ],
  [
    'a moment',
    `- { given: [${FREE}, times: 60 }, ${FREE}, at: 2025-01-01T00:01Z }], expect: { denied: 0 } }`,
  ],
  [
    'a rule for code',
    '- { given: { rule: sms, key: "+49", times: 3 }, expect: { allowed: 1, denied: 2, by: sms } }',
  ],
  ['requests without a rule', '- { given: { path: /, times: 3 }, expect: { allowed: 3, denied: 0 } }'],
])('a test passes: %s', async (_, lines) => {
  const file = join(folder, 'limits.yaml');
  writeFileSync(file, LIMITS + lines);
  expect(await testRules(file)).toEqual({ passed: 1, failed: [] });
});

test('each failed test is reported with its name and place', async () => {
  const file = join(folder, 'failing.yaml');
  writeFileSync(
    file,
    `${LIMITS}  - name: too few
    given: ${FREE}, times: 62 }
    expect: { denied: 1 }
  - { given: { path: /v1/a }, expect: { denied: 0 } }
  - { given: { rule: sms, key: x, times: 2 }, expect: { by: api } }
`,
  );
  await expect(testRules(file)).rejects.toThrow(
    `3 tests failed:
${file}:13:5: too few: expected denied 1; got allowed 60, denied 2 (2 by api.perMinute)
${file}:16:5: test 2: a request has no key: #{user.id} in the key template "#{user.id}" is missing (undefined); a key needs a string, a finite number, a bigint or a boolean
${file}:17:5: test 3: expected by api; got allowed 1, denied 1 (1 by sms)`,
  );
});

test('a test can expect how many requests each shadow rule would deny', async () => {
  const document = (expect: string) =>
    parseRules(`rules:
  - { name: api, match: { path: /v1 }, limit: { fixedWindow: { limit: 5, window: 1m } } }
  - { name: next, mode: shadow, compare: api, limit: { fixedWindow: { limit: 2, window: 1m } } }
  - { name: user, mode: shadow, compare: api, key: '#{user.id}', limit: { gcra: { limit: 1, period: 1m } } }
tests: [{ given: { path: /v1, times: 6 }, expect: ${expect} }]`);
  expect(await testRules(document('{ denied: 1, shadow: { next: 4 } }'))).toMatchObject({ passed: 1 });
  await expect(testRules(document('{ shadow: { next: 3 } }'))).rejects.toThrow(
    'test 1: expected shadow next 3; got allowed 5, denied 1 (1 by api), shadow next 4',
  );
  await expect(testRules(document('{ shadow: { user: 0 } }'))).rejects.toThrow('a request has no key');
});

test('a failed test names the requests that no limit applied to', async () => {
  const document = parseRules(`${LIMITS}  - given:
      - { path: /v2/a, times: 2 }
      - ${FREE}, times: 60 }
      - { method: POST, path: /, times: 3 }
    expect: { denied: 1 }
`);
  await expect(testRules(document)).rejects.toThrow(
    'expected denied 1; got allowed 65, denied 0; no limit applied to 2 of GET /v2/a, 3 of POST /',
  );
});

test('testRules rejects a document without tests', async () => {
  await expect(testRules(parseRules(LIMITS.replace('tests:', '')))).rejects.toThrow(
    'the document has no tests',
  );
});

test('testRules accepts a document as an object', async () => {
  const document: RulesDocument = {
    rules: [{ name: 'sms', limit: { gcra: { limit: 1, period: '1m' } } }],
    tests: [{ given: { rule: 'sms', key: 1, times: 2 }, expect: { denied: 2 } }],
  };
  await expect(testRules(document)).rejects.toThrow(
    'test 1: expected denied 2; got allowed 1, denied 1 (1 by sms)',
  );
});

test.each([
  ['{ given: { path: /, key: 1 }, expect: { denied: 1 } }', /key and plan are for a call of a rule/],
  ['{ given: { method: GET }, expect: { denied: 1 } }', /given needs a path/],
  [
    '{ given: { rule: smss, key: 1 }, expect: { denied: 1 } }',
    /13:22: no rule with limits is named 'smss'; did you mean 'sms'\?/,
  ],
  ['{ given: { rule: sms }, expect: { denied: 1 } }', /needs a key/],
  ['{ given: { rule: sms, key: 1, path: / }, expect: { denied: 1 } }', /path has no effect/],
  ['{ given: { path: /, at: tomorrow }, expect: { denied: 1 } }', /at must be a moment/],
  ['{ given: { pth: / }, expect: { denied: 1 } }', /given has no field "pth"; did you mean 'path'/],
  ['{ given: [{ path: /, headrs: {} }], expect: { denied: 1 } }', /did you mean 'headers'/],
  ['{ given: { path: /, every: 1 week-end }, expect: { denied: 1 } }', /every must be a duration/],
  ['{ given: { path: / }, expect: {} }', /expect needs allowed, denied, by or shadow/],
  ['{ given: { path: / }, expect: { by: api.perMinut } }', /did you mean 'api.perMinute'/],
  ['{ given: { path: / }, expect: { shadow: { api: 1 } } }', /no shadow rule is named 'api'/],
  ['{ given: { path: / }, expect: { shadow: 1 } }', /must be an object of numbers by rule/],
  [
    '{ given: { path: /, times: 1000001 }, expect: { denied: 1 } }',
    /times must be at most 100000, not 1000001/,
  ],
])('the test %s is refused', (lines, message) => {
  expect(() => parseRules(`${LIMITS}  - ${lines}`)).toThrow(message);
});

test('a request of a test can set an address, user, query, cookies and plan', async () => {
  const report = await testRules(
    parseRules(`
plans: { free: { perHour: 1 }, pro: { perHour: 2 } }
defaultPlan: free
rules:
  - name: api
    match: { path: /v1/*, not: { ip: 10.0.0.0/8 } }
    key: [USER, IP]
    plan: '#{user.plan}'
    limit: { fixedWindow: { limit: $plan.perHour, window: 1h } }
  - name: csv
    match: { query: { format: csv }, plan: free }
    plan: '#{user.plan}'
    key: '#{cookies.session}'
    limit: { fixedWindow: { limit: 1, window: 1h } }
tests:
  - given:
      - { path: /v1/a, ip: 192.0.2.1 }
      - { path: /v1/a, ip: 192.0.2.1, user: { id: 192.0.2.1 } }
      - { path: /v1/a, ip: '::ffff:192.0.2.1' }
    expect: { allowed: 2, denied: 1, by: api }
  - { given: { path: /v1/a, ip: 10.1.2.3, times: 9 }, expect: { denied: 0 } }
  - { given: { path: /v1/a, user: { id: ann, plan: pro }, times: 3 }, expect: { denied: 1 } }
  - { given: { path: /csv, query: { format: csv }, cookies: { session: s }, times: 2 }, expect: { denied: 1, by: csv } }
  - { given: { path: '/csv?format=csv', headers: { cookie: session=s }, times: 2 }, expect: { denied: 1, by: csv } }
  - { given: { path: '/csv?format=csv', user: { plan: pro }, times: 2 }, expect: { denied: 0 } }
`),
  );
  expect(report).toEqual({ passed: 6, failed: [] });
});
