import { count, listText } from './words.js';

test.each([
  [0, '0 tests'],
  [1, '1 test'],
  [2, '2 tests'],
])('%i of a thing has the right number', (number, text) => {
  expect(count(number, 'test')).toBe(text);
});

test('a plural that does not end with s is given', () => {
  expect([1, 3].map((number) => count(number, 'entry', 'entries'))).toEqual(['1 entry', '3 entries']);
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
