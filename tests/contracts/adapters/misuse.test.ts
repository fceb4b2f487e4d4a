import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fixedWindow } from '@sluice/core';
import { rateLimit as limitExpress } from '@sluice/express';
import { rateLimit as limitFastify } from '@sluice/fastify';
import { rateLimit as limitFetch } from '@sluice/fetch';
import { rateLimit as limitKoa } from '@sluice/koa';
import express from 'express';
import express4 from 'express-4';
import fastify from 'fastify';
import Koa from 'koa';

/** Warnings that this process has emitted, because each is emitted once. */
const given = (globalThis as { [slot: symbol]: unknown })[Symbol.for('sluice.warnings')] as Set<string>;
const policy = fixedWindow({ limit: 1, window: '1h' });
let warnings: jest.SpiedFunction<(message: string, options: { code: string }) => void>;

beforeEach(() => {
  given.clear();
  warnings = jest.spyOn(process, 'emitWarning').mockImplementation(() => {}) as never;
});
afterEach(() => warnings.mockRestore());

const told = () => warnings.mock.calls.map(([text, { code }]) => `${code} ${text}`);

/** The statuses of several requests in a row. */
async function statuses(listener: RequestListener, requests: number): Promise<number[]> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const all = [];
  for (let i = 0; i < requests; i += 1) all.push((await fetch(`http://127.0.0.1:${port}`)).status);
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  return all;
}

test.each([
  ['express-5', express],
  ['express-4', express4 as unknown as typeof express],
])('%s: a limit created in a handler never denies, and causes a warning', async (name, framework) => {
  const app = framework();
  app.use((request, response, next) => limitExpress({ name, policy })(request, response, next));
  app.get('/', (_, response) => void response.end());
  expect(await statuses(app, 4)).toEqual([200, 200, 200, 200]);
  expect(told()).toEqual([expect.stringMatching(/^SLUICE_LIMIT_PER_REQUEST rateLimit: limit 'express-\d'/)]);
});

test('Koa: a limit created in a handler never denies, and causes a warning', async () => {
  const app = new Koa();
  app.use((context, next) => limitKoa({ name: 'koa', policy })(context, next));
  app.use((context) => {
    context.body = 'ok';
  });
  expect(await statuses(app.callback(), 4)).toEqual([200, 200, 200, 200]);
  expect(told()).toEqual([expect.stringMatching(/^SLUICE_LIMIT_PER_REQUEST rateLimit: limit 'koa'/)]);
});

test('fetch: a limit created in a handler never denies, and causes a warning', async () => {
  const serve = (request: Request) => limitFetch({ name: 'fetch', policy })(request, { ip: '192.0.2.1' });
  for (let i = 0; i < 4; i += 1) expect(await serve(new Request('http://localhost'))).toBeUndefined();
  expect(told()).toEqual([expect.stringMatching(/^SLUICE_LIMIT_PER_REQUEST rateLimit: limit 'fetch'/)]);
});

test('Fastify: a limit created in a handler is an error of that request', async () => {
  const app = fastify();
  await app.register(limitFastify);
  app.get('/', { preHandler: (request, reply) => app.rateLimit({ policy })(request, reply) }, async () => '');
  await app.ready();
  const response = await app.inject('/');
  expect([response.statusCode, response.json().message]).toEqual([500, expect.stringContaining('addHook')]);
  await app.close();
});

const short = (option: string) =>
  `SLUICE_SHORT_WINDOW rateLimit: ${option}: 60 of limit 'default' is 60 milliseconds. Write '60s' if you mean seconds, '60ms' if you ` +
  'mean milliseconds';

test.each<[string, string, () => unknown]>([
  ['Express', 'windowMs', () => limitExpress({ limit: 5, windowMs: 60 })],
  ['Koa', 'duration', () => limitKoa({ max: 5, duration: 60 })],
  ['Fastify', 'timeWindow', () => fastify().register(limitFastify, { max: 5, timeWindow: 60 }).ready()],
  [
    'Fastify, of a route',
    'timeWindow',
    () => {
      const app = fastify().register(limitFastify);
      app.after(() => {
        const config = { rateLimit: { name: 'default', max: 5, timeWindow: 60 } };
        app.get('/', { config }, async () => '');
      });
      return app.ready();
    },
  ],
  ['fetch', 'window', () => limitFetch({ policy: fixedWindow({ limit: 5, window: 60 }) })],
])('%s: %s: 60 causes a warning', async (_, option, make) => {
  await make();
  expect(told()).toEqual([short(option)]);
});

test('a function that returns 60 causes a warning on its first request', async () => {
  const app = express().use(limitExpress({ limit: async () => 5, windowMs: 60 }));
  expect(told()).toEqual([]);
  await statuses(app, 2);
  expect(told()).toEqual([short('windowMs')]);
});
