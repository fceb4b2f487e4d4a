import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sluice } from './sluice.js';

const LIMITS = `version: 41
rules:
  - name: api
    match: { path: /v1/* }
    limit: { gcra: { limit: 5, period: 1m } }
tests:
  - { given: { path: /v1/a, times: 6 }, expect: { denied: 1 } }
`;

/** These commands do not connect to Redis. */
const nowhere = { REDIS_URL: 'redis://127.0.0.1:1' };
const check = (args: string[], input?: string) => sluice(['check', ...args], nowhere, input);

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-check-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

test('a valid file exits with 0 and a summary', async () => {
  const path = file('good.yaml', LIMITS);
  expect(await check([path])).toMatchObject({
    code: 0,
    stdout: `${path}: ok, version 41, 1 rule, 1 test passed\n`,
    stderr: '',
  });
});

test('problems and failed tests exit with 1 and a line for each', async () => {
  const wrong = file('wrong.yaml', LIMITS.replace('gcra', 'gcro').replace('name: api', 'nam: api'));
  const failing = file(
    'failing.json',
    JSON.stringify(
      {
        rules: [{ name: 'a', limit: { gcra: { limit: 1, period: '1m' } } }],
        tests: [{ given: { rule: 'a', key: 1 }, expect: { denied: 1 } }],
      },
      null,
      '\t',
    ),
  );
  const { code, stdout } = await check([wrong, failing]);
  expect(stdout).toBe(
    `${wrong}:3:5: a rule has no field "nam"; did you mean 'name'?
${wrong}:5:14: a limit has no field "gcro"; did you mean 'gcra'?
${failing}:14:3: test 1: expected denied 1; got allowed 1, denied 0
`,
  );
  expect(code).toBe(1);
});

test('--json prints one value for each file, and - reads the input', async () => {
  const { code, values } = await check(['--json', '-'], LIMITS.replace('denied: 1', 'denied: 2'));
  expect(values()).toEqual([
    {
      file: 'stdin',
      ok: false,
      version: 41,
      rules: 1,
      problems: [],
      tests: {
        passed: 0,
        failed: [
          {
            name: 'test 1',
            message: 'expected denied 2; got allowed 5, denied 1 (1 by api)',
            line: 7,
            column: 5,
          },
        ],
      },
    },
  ]);
  expect(code).toBe(1);
});

test('an unreadable file or no file exits with 2', async () => {
  const missing = await check([join(folder, 'missing.yaml')]);
  expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining('missing.yaml cannot be read')]);
  expect((await check([])).code).toBe(2);
});
