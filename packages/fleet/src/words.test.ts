import { listText } from './words.js';

test.each([
  [[], ''],
  [['a'], 'a'],
  [['a', 'b'], 'a and b'],
  [['a', 'b', 'c'], 'a, b and c'],
  [['a', 'b', 'c', 'd', 'e'], 'a, b, c and 2 more'],
])('the list of %j names its first items', (items, text) => {
  expect(listText(items)).toBe(text);
});
