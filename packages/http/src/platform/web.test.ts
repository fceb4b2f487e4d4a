import * as node from './node.js';
import * as web from './web.js';

test('the web has a twin of everything that http takes from Node.js', () => {
  expect(Object.keys(web).sort()).toEqual(Object.keys(node).sort());
});
