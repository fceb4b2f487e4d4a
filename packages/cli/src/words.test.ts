import { fixedWindow } from '@sluice/core';
import { coloured, shown, table, widthOf, wrapped } from './text.js';
import { listText, policyOf, timeOf } from './words.js';

test('a moment of the present day is shown without its date', () => {
  const now = new Date(2026, 10, 22, 9, 5, 7).getTime() * 1_000;
  expect(timeOf(now, now)).toBe('09:05:07');
  expect(timeOf(now + 86_400_000_000, now)).toBe('2026-11-23 09:05:07');
});

test('a policy is shown with the name of its algorithm', () => {
  expect(policyOf(fixedWindow({ limit: 5, window: '1m' }))).toBe('5 per 1 min (fixedWindow)');
});

test('control and direction characters in a name are escaped', () => {
  expect(shown('a\u001b[2J\n\u202eb\u0000\u200b')).toBe('a\\u{1b}[2J\\u{a}\\u{202e}b\\u{0}\\u{200b}');
  expect(shown("<b>'é😀ش")).toBe("<b>'é😀ش");
});

test('a table too wide for the terminal becomes blocks, and lines wrap except within a word', () => {
  const rows = [
    ['login', 'a policy with several words in it'],
    ['api', ''],
  ];
  expect(table(['NAME', 'POLICY'], rows, 80)).toEqual([
    'NAME   POLICY',
    'login  a policy with several words in it',
    'api',
  ]);
  const narrow = table(['NAME', 'POLICY'], rows, 30);
  expect(narrow).toEqual([
    'NAME    login',
    'POLICY  a policy with several',
    '        words in it',
    '',
    'NAME    api',
  ]);
  expect(wrapped('x'.repeat(50), 20)).toEqual(['x'.repeat(50)]);
  expect(widthOf(coloured('red', 31, 39))).toBe(3);
});

test.each([
  [[], ''],
  [['a'], 'a'],
  [['a', 'b'], 'a and b'],
  [['a', 'b', 'c'], 'a, b and c'],
  [['a', 'b', 'c', 'd', 'e'], 'a, b, c and 2 more'],
])('the list of %j names its first items', (items, text) => {
  expect(listText(items)).toBe(text);
});
