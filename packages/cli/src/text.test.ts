import * as rules from '@sluice/rules';
import { linesOf, reportOf } from './commands/check.js';
import { main } from './main.js';
import { safeJson, shown } from './text.js';

/** Clears a screen, moves the cursor, and turns the direction of the text: in C0, in C1, and as marks of Unicode. */
const HOSTILE = 'a\u001b[2J\n\u009b2J\u202eb\u2028\u{e0041}';
const COMMANDS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

test('a text commands no terminal', () => {
  expect(shown(HOSTILE)).toBe('a\\u{1b}[2J\\u{a}\\u{9b}2J\\u{202e}b\\u{2028}\\u{e0041}');
});

test('JSON commands no terminal, and has the same value', () => {
  expect(safeJson({ [HOSTILE]: [HOSTILE] })).not.toMatch(COMMANDS);
  expect(JSON.parse(safeJson({ [HOSTILE]: [HOSTILE] }))).toEqual({ [HOSTILE]: [HOSTILE] });
});

test('an error commands no terminal', async () => {
  const written = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
  try {
    expect(await main(['check', HOSTILE])).toBe(2);
    const text = written.mock.calls.join('').replaceAll('\n', ' ');
    expect(text).toContain('sluice: a\\u{1b}[2J');
    expect(text).not.toMatch(COMMANDS);
  } finally {
    written.mockRestore();
  }
});

test.each([
  ['a failed test', { tests: [{ name: HOSTILE, given: { path: '/a' }, expect: { denied: 1 } }] }],
  ['a problem', { [HOSTILE]: 1 }],
  ['a version', { version: HOSTILE }],
])('sluice check: %s commands no terminal', async (_, more) => {
  const rule = { name: 'a', match: { path: '/*' }, limit: { fixedWindow: { limit: 1, window: '1m' } } };
  const report = await reportOf(rules, 'limits.yaml', JSON.stringify({ rules: [rule], ...more }));
  const lines = linesOf(rules, report);
  expect(lines).toHaveLength(1);
  expect(lines[0]).not.toMatch(COMMANDS);
  expect(lines[0]).toContain('[2J');
});
