import { accountKey, pauseKeys, routeOf, scopeOfKey } from './scopes.js';

describe('the route of a path', () => {
  const JWT = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U';

  test.each<[string, string, string]>([
    ['a number', '/users/17/orders', '/users/*/orders'],
    ['a UUID', '/orders/0b9f6f0e-1c54-4b43-8f4e-8a3f4f8a1c11', '/orders/*'],
    ['a hash', '/commits/deadbeefdeadbeef', '/commits/*'],
    ['an id of letters and digits', '/customers/cus_Nq3b7LxYz0', '/customers/*'],
    ['a token of Telegram', '/bot123456:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw/sendMessage', '/*/sendMessage'],
    ['a JWT', `/verify/${JWT}`, '/verify/*'],
    ['an escaped address', '/people/jane%40example9/roles', '/people/*/roles'],
    ['a long part without digits', `/share/${'abcdefghij-'.repeat(5)}`, '/share/*'],
  ])('has a * in place of %s', (_, path, route) => {
    expect(routeOf(path)).toBe(route);
  });

  test.each([
    '/v1/chat/completions',
    '/api/chat.postMessage',
    '/2010-04-01/Accounts',
    '/',
    '/repos/x/y',
    '/models/gemini-1.5-pro:generateContent',
  ])('keeps the names of %s', (path) => {
    expect(routeOf(path)).toBe(path);
  });
});

describe('the keys of a call', () => {
  const keysOf = (account: string) =>
    pauseKeys({ account: accountKey(account), dimensions: ['requests', 'tokens'], route: 'GET /a' });

  test.each(['', '3f9c2a11d0b74e65', 'tenant:42', ':', 'a:GET /b', 'Acme Ltd.', '100%'])(
    'say what they pause, of the account %j',
    (account) => {
      expect(keysOf(account).map(scopeOfKey)).toEqual([
        'upstream',
        'account',
        'dimension',
        'dimension',
        'endpoint',
      ]);
    },
  );

  test('of two accounts differ, except the one of the service', () => {
    const accounts = ['a', 'a:requests', 'a:GET /a', 'a%3Arequests', ''];
    const keys = accounts.flatMap((account) => keysOf(account).slice(1));
    expect(new Set(keys).size).toBe(keys.length);
  });
});
