import { pathOf, routeOf, routerPathOf, writtenPathOf } from './request-path.js';

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
  // Escapes that would change the path if decoded stay as they are.
  ['/a%2fb', '/a%2Fb'],
  ['/%252e%252e/a', '/%252e%252e/a'],
  ['/50%25', '/50%25'],
  ['/%zz', '/%zz'],
  ['/.well-known/x', '/.well-known/x'],
  ['/a..b/...', '/a..b/...'],
  ['/Users/Ann', '/Users/Ann'],
])('the path of %s is %s', (url, path) => {
  expect(pathOf(url)).toBe(path);
  expect(pathOf(path.replaceAll('é', '%C3%A9'))).toBe(path);
});

test.each([
  '*',
  '*login',
  'login',
  '?login',
  'http://a',
  'http://a?b/login',
  'http://a#b/login',
  'http:///login',
  'HTTP://a/login',
  'ws://a/login',
  'a:443',
])('%s is rejected, because routers differ on its path', (url) => {
  const refusal = expect.objectContaining({ status: 400, expose: true });
  expect(() => pathOf(url)).toThrow(refusal);
  expect(() => writtenPathOf(`x${url}/../x`)).toThrow(refusal);
});

test('upper and lower case yield one path if the router ignores case', () => {
  expect(pathOf('/Users/%41nn', false)).toBe('/users/ann');
});

test.each([
  ['/files/../a', '/files/../a'],
  ['/files/%2e%2E/%61?b', '/files/../a'],
  ['//files/./a/', '/files/./a'],
  ['http://any/files/..', '/files/..'],
  ['/..', '/..'],
  ['/files/a', undefined],
  ['/.well-known/...', undefined],
  ['/files/%2e%2e%2fa', undefined],
  ['/files?/../a', undefined],
  ['/', undefined],
])('the written path of %s is %s', (url, path) => {
  expect(writtenPathOf(url)).toBe(path);
});

test.each<[string, object | undefined, string]>([
  ['/Users/1;a', undefined, '/Users/1;a'],
  ['/Users/1', { caseSensitive: false }, '/users/1'],
  ['/Users/1', { caseSensitive: true, routerOptions: { caseSensitive: false } }, '/users/1'],
  ['/Users/1;a?b', { useSemicolonDelimiter: true }, '/Users/1'],
  ['http://a;b/users/1;a', { routerOptions: { useSemicolonDelimiter: true } }, '/users/1'],
  ['/users/1%3Ba?b;c', { useSemicolonDelimiter: true }, '/users/1;a'],
])('the path of %s in a server with %j is %s', (url, settings, path) => {
  expect(routerPathOf(pathOf, url, settings)).toBe(path);
});

test.each<[string, unknown, string | undefined]>([
  ['/api', '/users/:id', '/api/users/:id'],
  ['/', '/users/:id', '/users/:id'],
  ['', /^\/a/, '/^\\/a/'],
  ['/api', undefined, undefined],
])('mounted at %s, the route of %s is %s', (prefix, pattern, route) => {
  expect(routeOf(prefix, pattern)).toBe(route);
});
