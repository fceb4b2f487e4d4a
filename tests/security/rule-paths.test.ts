import { get, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import fastify from 'fastify';
import Koa from 'koa';
import { rateLimit as rateLimitExpress } from '../../packages/express/src/index.js';
import { rateLimit as fastifyPlugin } from '../../packages/fastify/src/index.js';
import { rateLimit as rateLimitKoa } from '../../packages/koa/src/index.js';
import { Rules } from '../../packages/rules/src/index.js';

const DOCUMENT = `
rules:
  - { name: search, match: { path: /search/* }, limit: { fixedWindow: { limit: 100, window: 1h } } }
  - { name: health, match: { path: /health }, unlimited: true }
`;

/** Spellings that reach a handler of everything below /search in some framework. */
const SPELLINGS = [
  '/search',
  '/search/',
  '/SEARCH/a',
  '/search?/../..',
  '/search#/../..',
  '/search%2F..%2F',
  '/search//..//..',
  '/search/../x',
  '/search/./../x',
  '/search/%2e%2E/x',
  '/search/../health',
  '/search/%2e./health',
  '/search\\..\\x#',
  '/search/..\\..\\x#',
  '/%73earch/../x',
  'http://any/search/../x',
];

const opened: { close(): unknown }[] = [];
afterAll(async () => {
  for (const one of opened.reverse()) await one.close();
});
function rules(): Rules {
  const created = new Rules(DOCUMENT);
  opened.push(created);
  return created;
}

const servers: Readonly<Record<string, () => Promise<AddressInfo>>> = {
  express: () => {
    const app = express();
    app.use(rateLimitExpress({ rules: rules() }));
    app.use('/search', (_request, response) => void response.send('reached'));
    return listening(app.listen(0, '127.0.0.1'));
  },
  koa: () => {
    const app = new Koa();
    app.use(rateLimitKoa({ rules: rules() }));
    app.use((context) => {
      if (/^\/search(\/|$)/i.test(context.path)) context.body = 'reached';
    });
    return listening(app.listen(0, '127.0.0.1'));
  },
  fastify: async () => {
    const app = fastify({ routerOptions: { caseSensitive: false } });
    opened.push(app);
    await app.register(fastifyPlugin, { rules: rules() });
    app.get('/search', async () => 'reached');
    app.get('/search/*', async () => 'reached');
    await app.listen({ port: 0, host: '127.0.0.1' });
    return app.server.address() as AddressInfo;
  },
};

async function listening(server: Server): Promise<AddressInfo> {
  opened.push(server);
  if (!server.listening) await new Promise((resolve) => server.once('listening', resolve));
  return server.address() as AddressInfo;
}

/** As it is written: `fetch` would resolve dot segments. */
const ask = (port: number, path: string) =>
  new Promise<{ body: string; limits: string | undefined }>((resolve, reject) => {
    get({ host: '127.0.0.1', port, path, agent: false }, async (response) => {
      const body = (await response.toArray()).join('');
      resolve({ body, limits: response.headers.ratelimit as string | undefined });
    }).on('error', reject);
  });

test.each(Object.keys(servers))('%s: no spelling of a path reaches its handler uncounted', async (name) => {
  const { port } = await servers[name]!();
  const reached: string[] = [];
  for (const path of SPELLINGS) {
    const { body, limits } = await ask(port, path);
    if (body !== 'reached') continue;
    reached.push(path);
    expect([path, limits]).toEqual([path, expect.stringContaining('"rules.search"')]);
  }
  expect(reached).toEqual(expect.arrayContaining(['/search', '/search/../x', '/search/../health']));
});
