import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Simulation } from '../../../packages/rules/src/simulate/index.js';
import { sluice, start } from './sluice.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-simulate-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const rules = (limit: number) => `
rules:
  - name: api
    match: { path: /v1/* }
    key: '#{user.id}'
    limits:
      perMinute: { fixedWindow: { limit: ${limit}, window: 1m } }
      perDay: { fixedWindow: { limit: 50, window: 1d } }
  - name: sms
    limit: { fixedWindow: { limit: 1, window: 1m } }
`;
const line = (second: number, user: string, path = '/v1/a') =>
  `203.0.113.7 - ${user} [22/Nov/2026:12:00:${String(second).padStart(2, '0')} +0100] "GET ${path} HTTP/1.1" 200 5`;
const LOG = [
  ...Array.from({ length: 8 }, (_, i) => line(i, 'ann')),
  ...Array.from({ length: 2 }, (_, i) => line(10 + i, 'e\\x1b[31mve')),
  line(20, '-'),
  line(21, 'bob', '/health'),
  'garbage',
].join('\n');

test('simulate shows the denials of each limit, its denied keys, and notes on the figures', async () => {
  const args = ['simulate', '--rules', file('new.yaml', rules(5)), '--log', file('access.log', LOG)];
  const { code, stdout, stderr } = await sluice(args, { COLUMNS: '80' });
  expect([code, stderr]).toEqual([0, '']);
  expect(
    stdout.replaceAll(`${folder}/`, ''),
  ).toBe(`access.log (common): 12 requests from 2026-11-22 11:00:00Z to 2026-11-22
11:00:21Z.
new.yaml denies 3 of them (25 %), and does not limit
2.

LIMIT            REQUESTS  DENIED  SHARE  KEYS  USE P50  P90    P99    MAX
api              10        3       30 %   2
  api.perMinute  10        3       30 %   2     40 %     100 %  100 %  100 %
  api.perDay     10        0       0 %    2     4 %      10 %   10 %   10 %

Denied most
RULE  DENIED  KEY
api   3       ann

1 line is not requests: line 13 of access.log is not of the combined or the
common log format.
Rule api was left out for 1 request whose key or cost is not in the log: line 11
of access.log: #{user.id} in the key template "#{user.id}" is missing
(undefined); a key needs a string, a finite number, a bigint or a boolean.
A log says nothing of rules without a match: sms.
`);
});

test('--against and --target exit with 1 on findings, and --json prints all figures', async () => {
  const [now, before, log] = [
    file('new.yaml', rules(5)),
    file('old.yaml', rules(7)),
    file('access.log', LOG),
  ];
  const args = ['simulate', '--rules', now, '--log', log];
  const { code, values } = await sluice([...args, '--against', before, '--json']);
  const [found] = values() as [Simulation];
  expect(code).toBe(1);
  expect(found.newlyDenied).toEqual({
    requests: 2,
    keys: [{ rule: 'api', key: 'ann', requests: 2, error: 0 }],
  });
  const target = await sluice([...args, '--target', '1%'], { COLUMNS: '80' });
  expect(target.code).toBe(1);
  expect(target.stdout).toMatch(/api\.perMinute\s+5 per 1 min \(fixedWindow\)\s+8 per 1 min \(fixedWindow\)/);
  expect((await sluice(['simulate', '--rules', before, '--log', log, '--target', '20%'])).code).toBe(0);
});

test('keys of a log print no control characters, and lines fit the terminal', async () => {
  const many = Array.from({ length: 8 }, (_, i) => line(i, 'e\\x1b[31mve\\x22')).join('\n');
  const args = ['simulate', '--rules', file('new.yaml', rules(5)), '--log', file('many.log', many)];
  const { stdout } = await sluice(args, { COLUMNS: '80' });
  expect(stdout).toContain('e\\u{1b}[31mve"');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: none may be there
  expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
  expect(Math.max(...stdout.split('\n').map((text) => text.length))).toBeLessThanOrEqual(80);
});

test('simulate reads stdin, several logs, and JSON with named fields', async () => {
  const now = file('new.yaml', rules(5));
  const json = [0, 1].map((second) =>
    JSON.stringify({ at: 1_795_348_800 + second, m: 'GET', p: '/v1/a', who: 'bob' }),
  );
  const fields = 'time=at,method=m,path=p,user=who';
  const args = ['simulate', '--rules', now, '--log', '-', '--fields', fields, '--json'];
  const { code, values } = await sluice(args, {}, json.join('\n'));
  expect([code, (values()[0] as Simulation).rules.rules[0]!.requests]).toEqual([0, 2]);
  const log = file('access.log', LOG);
  const two = await sluice(['simulate', '--rules', now, '--log', log, log, '--json']);
  expect((two.values()[0] as Simulation).log).toMatchObject({ requests: 24, late: 9 });
});

test.each([
  [['simulate'], 'needs --rules and a log'],
  [['simulate', '--rules', 'none.yaml', '--log', 'x'], 'none.yaml cannot be read'],
  [['simulate', '--rules', 'RULES', '--log', 'none.log'], 'The log cannot be read: ENOENT'],
  [['simulate', '--rules', 'RULES', '--log', 'RULES'], 'no line among the first 50 is a request'],
  [['simulate', '--rules', 'RULES', '--log', 'LOG', '--format', 'clf'], 'format must be one of'],
  [['simulate', '--rules', 'RULES', '--log', 'LOG', '--target', '200%'], '--target must be a share'],
  [['simulate', '--rules', 'RULES', '--log', 'LOG', '--fields', 'x'], '--fields takes name=field'],
  [['simulate', '--rules', 'RULES', '--log', 'LOG', '--max-keys', 'x'], 'maxKeys must be a whole number'],
  [['simulate', '--rules', 'RULES', '--log', 'LOG', '--html', '/none/x.html'], 'cannot be written'],
  [['simulate', '--rules', 'LOG', '--log', 'LOG'], 'access.log:'],
])('%j fails with one sentence', async (args, message) => {
  const places = { RULES: file('new.yaml', rules(5)), LOG: file('access.log', LOG) };
  const given = args.map((arg) => places[arg as keyof typeof places] ?? arg);
  const { code, stderr } = await sluice(given);
  expect(code).toBe(2);
  expect(stderr).toContain(message);
  expect(stderr).not.toContain('mistake in sluice');
});

test('Ctrl-C ends simulate', async () => {
  const child = await start(['simulate', '--rules', file('new.yaml', rules(5)), '--log', '-']);
  const ended = new Promise((resolve) => child.once('close', resolve));
  // More than a pipe holds: once it is written, the command reads.
  await new Promise((resolve) =>
    child.stdin.write(`${LOG}\n`.repeat(Math.ceil(4_000_000 / LOG.length)), resolve),
  );
  child.kill('SIGINT');
  expect(await ended).toBe(2);
});

test('--html writes a page that contains the rules and loads nothing', async () => {
  const page = join(folder, 'report.html');
  const args = ['simulate', '--rules', file('new.yaml', rules(5)), '--log', file('access.log', LOG)];
  expect((await sluice([...args, '--html', page])).code).toBe(0);
  const text = readFileSync(page, 'utf8');
  expect(text).toContain('<h2>api</h2>');
  expect(text).not.toMatch(/<script|\bsrc=|\bhref=|url\(/i);
});

test('docs/simulate.md shows the actual output', async () => {
  const root = join(__dirname, '../../..');
  const page = readFileSync(join(root, 'docs/simulate.md'), 'utf8');
  const [, command, output] = /```sh\nnpx @sluice\/cli (.*)\n```\n\n```text\n([\s\S]*?)```/.exec(page)!;
  const names = command!.split(' ').map((word) => word.replace(/^examples/, join(root, 'examples')));
  const { code, stdout } = await sluice(names, { COLUMNS: '400' });
  const words = (text: string) => text.replaceAll(`${root}/`, '').split(/\s+/).filter(Boolean);
  expect([code, words(stdout)]).toEqual([1, words(output!)]);
});
