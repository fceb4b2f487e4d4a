import * as rules from '@sluice/rules';
import { linesOf, reportOf } from './commands/check.js';
import { main } from './main.js';
import { Output } from './output.js';
import { Screen } from './screen.js';
import { coloured, forTerminal, safeJson, shown } from './text.js';

/** Clears a screen, moves the cursor, and turns the direction of the text: in C0, in C1, and as marks of Unicode. */
const HOSTILE = 'a\u001b[2J\n\u009b2J\u202eb\u2028\u{e0041}';
const COMMANDS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

test('a text is escaped before it reaches the terminal', () => {
  expect(shown(HOSTILE)).toBe('a\\u{1b}[2J\\u{a}\\u{9b}2J\\u{202e}b\\u{2028}\\u{e0041}');
});

test('JSON is escaped before it reaches the terminal, and parses to the same value', () => {
  expect(safeJson({ [HOSTILE]: [HOSTILE] })).not.toMatch(COMMANDS);
  expect(JSON.parse(safeJson({ [HOSTILE]: [HOSTILE] }))).toEqual({ [HOSTILE]: [HOSTILE] });
});

test('an error message is escaped before it reaches the terminal', async () => {
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

test('only colours that the CLI sets itself reach the terminal', () => {
  expect(forTerminal(`${coloured('a', 31, 39)}\u001b[31mb`)).toBe('\u001b[31ma\u001b[39m\\u{1b}[31mb');
});

const written = (print: (output: Output) => void, isTTY = false): string => {
  let text = '';
  const write = (chunk: string) => {
    text += chunk;
  };
  print(new Output({ write, isTTY, columns: 200 }, false, {}, false));
  return text;
};

test.each<[string, (output: Output) => void]>([
  ['a line', (output) => output.line(HOSTILE)],
  ['a coloured line', (output) => output.line(output.style('red', HOSTILE))],
  ['a sentence', (output) => output.say(HOSTILE, '  ')],
  ['a table', (output) => output.table(['A', 'B'], [[HOSTILE, HOSTILE]])],
  ['a table that is too wide', (output) => output.table(['A'], [[HOSTILE.repeat(100)]])],
  ['a screen', (output) => new Screen(output).draw([HOSTILE])],
])('%s is escaped before it reaches the terminal', (_, print) => {
  for (const isTTY of [false, true]) {
    const text = written(print, isTTY);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: ours
    const others = text.replace(/\u001b\[(?:\d+m|[HJ])|\n/g, '');
    expect(others).toContain('[2J\\u{a}\\u{9b}2J');
    expect(others).not.toMatch(COMMANDS);
  }
});

test.each([
  ['a failed test', { tests: [{ name: HOSTILE, given: { path: '/a' }, expect: { denied: 1 } }] }],
  ['a problem', { [HOSTILE]: 1 }],
  ['a version', { version: HOSTILE }],
])('sluice check escapes %s before it reaches the terminal', async (_, more) => {
  const rule = { name: 'a', match: { path: '/*' }, limit: { fixedWindow: { limit: 1, window: '1m' } } };
  const report = await reportOf(rules, 'limits.yaml', JSON.stringify({ rules: [rule], ...more }));
  const text = written((output) => output.lines(linesOf(rules, report)));
  expect(text).toMatch(/^.*\n$/);
  expect(text.trimEnd()).not.toMatch(COMMANDS);
  expect(text).toContain('[2J');
});
