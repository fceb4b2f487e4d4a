import { pathOf, routeOf, routesByCase } from './request-path.js';

test.each([
  ['/users/1', '/users/1'],
  ['/users/1/', '/users/1'],
  ['/users/%31', '/users/1'],
  ['//users///1', '/users/1'],
  ['/users/./2/../1', '/users/1'],
  ['/users/%2e%2E/users/1', '/users/1'],
  ['/../../users/1', '/users/1'],
  ['/users/1?x=1#y', '/users/1'],
  ['http://any/users/1?x', '/users/1'],
  ['/users/%40ann', '/users/@ann'],
  ['/caf%C3%A9', '/café'],
  ['/', '/'],
  ['', '/'],
  ['//', '/'],
  ['/?a=/b', '/'],
  // What would be another path stays as it is.
  ['/a%2fb', '/a%2Fb'],
  ['/%252e%252e/a', '/%252e%252e/a'],
  ['/50%25', '/50%25'],
  ['/%zz', '/%zz'],
  ['/.well-known/x', '/.well-known/x'],
  ['/a..b/...', '/a..b/...'],
  ['/Users/Ann', '/Users/Ann'],
])('%s is %s', (url, path) => {
  expect(pathOf(url)).toBe(path);
  expect(pathOf(path.replaceAll('é', '%C3%A9'))).toBe(path);
});

test('capitals are one with small letters where the router takes them so', () => {
  expect(pathOf('/Users/%41nn', false)).toBe('/users/ann');
  expect([routesByCase({}), routesByCase(undefined)]).toEqual([true, true]);
  expect(routesByCase({ caseSensitive: false })).toBe(false);
  expect(routesByCase({ caseSensitive: true, routerOptions: { caseSensitive: false } })).toBe(false);
});

test.each<[string, unknown, string | undefined]>([
  ['/api', '/users/:id', '/api/users/:id'],
  ['/', '/users/:id', '/users/:id'],
  ['', /^\/a/, '/^\\/a/'],
  ['/api', undefined, undefined],
])('the route under %s of %s is %s', (prefix, pattern, route) => {
  expect(routeOf(prefix, pattern)).toBe(route);
});
