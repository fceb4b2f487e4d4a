import { fixedWindow } from '@sluice/core';
import fastify from 'fastify';
import { rateLimit } from './index.js';
import { FastifyRequestView } from './request.js';

test.each([
  [true, [200, 404, 200, 429]],
  [false, [200, 429, 429, 429]],
])('with caseSensitive: %s, the statuses of four spellings are %j', async (caseSensitive, expected) => {
  const app = fastify({ routerOptions: { caseSensitive } });
  await app.register(rateLimit, { policy: fixedWindow({ limit: 1, window: '1h' }), key: '#{path}' });
  app.get('/users/:id', async () => 'ok');
  const statuses = [];
  for (const path of ['/users/ann', '/USERS/ann', '/users/Ann', '/users/%61nn']) {
    statuses.push((await app.inject(path)).statusCode);
  }
  expect(statuses).toEqual(expected);
  await app.close();
});

test.each<[object, number[]]>([
  [{ useSemicolonDelimiter: true }, [200, 429, 429]],
  [{ routerOptions: { useSemicolonDelimiter: true } }, [200, 429, 429]],
  [{}, [200, 200, 200]],
])('%j: text after a semicolon changes the key only if it is part of the path', async (options, expected) => {
  const app = fastify(options);
  await app.register(rateLimit, { policy: fixedWindow({ limit: 1, window: '1h' }), key: '#{path}' });
  app.get('/users/:id', async () => 'ok');
  const statuses = [];
  for (const path of ['/users/1', '/users/1;a', '/users/1;b?c'])
    statuses.push((await app.inject(path)).statusCode);
  expect(statuses).toEqual(expected);
  await app.close();
});

test('#{route} is known in every hook, and all 404s share one count', async () => {
  const app = fastify();
  await app.register(rateLimit, { policy: fixedWindow({ limit: 1, window: '1h' }), key: '#{route}' });
  app.get('/users/:id', async () => 'ok');
  const statuses = [];
  for (const path of ['/users/1', '/users/2', '/x', '/y']) statuses.push((await app.inject(path)).statusCode);
  expect(statuses).toEqual([200, 429, 404, 429]);
  await app.close();
});

test.each([
  ['5.4.0', '/Users'],
  ['5.5.0', '/users'],
  ['5.6.2', '/users'],
  ['5.12.8', '/Users'],
])('in Fastify %s, router options without caseSensitive yield the path %s', (version, path) => {
  const initialConfig = { caseSensitive: true, routerOptions: { maxParamLength: 100 } };
  const view = new FastifyRequestView({ url: '/Users', server: { initialConfig, version } } as never);
  expect(view.path).toBe(path);
});
