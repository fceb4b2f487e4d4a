import { createServer, type RequestListener, type Server } from 'node:http';
import { type ClientHttp2Session, connect as connect2, createServer as createServer2 } from 'node:http2';
import { type AddressInfo, connect } from 'node:net';
import type Router from '@koa/router';
import type express from 'express';
import type fastify from 'fastify';
import type Koa from 'koa';
import { fixedWindow } from '../../packages/core/src/index.js';
import { rateLimit as rateLimitExpress } from '../../packages/express/src/index.js';
import { rateLimit as fastifyPlugin } from '../../packages/fastify/src/index.js';
import { rateLimit as rateLimitKoa } from '../../packages/koa/src/index.js';
import { Rules } from '../../packages/rules/src/index.js';

/** What a client may send instead of a path: each reaches a handler in some version of some router, or once did. */
export const TARGETS = [
  '/v1/login',
  '/v1/login/',
  '/V1/Login',
  '/v1/%6Cogin',
  '/v1%2Flogin',
  '/v1%2flogin',
  '/v1/login?x=/../..',
  '/v1/login#x',
  '/v1/login;x',
  '/v1/login%3Bx',
  '/v1/login%3Fx',
  '/v1/login%23x',
  '//v1/login',
  '//a/v1/login',
  '/v1//login',
  '/v1/./login',
  '/v1/x/../login',
  '/v1/%2e%2E/v1/login',
  '/v1\\login',
  '/v1\\login#',
  '/http://a/v1/login',
  'http://a/v1/login',
  'http://a/v1/login?b#c',
  'http://a//v1/login',
  'HTTP://a/v1/login',
  'https://a/v1/login',
  'HttpS://a/v1/login',
  'ws://a/v1/login',
  'x://a/v1/login',
  'http://u:p@a:80/v1/login',
  'http://[::1]:80/v1/login',
  'http://a;b/v1/login',
  'http://a%zz/v1/login',
  'http://a\\b/v1/login',
  'http://a?b/v1/login',
  'http://a#b/v1/login',
  'http://a?/v1/login',
  'http:///v1/login',
  'http://a/x/v1/login',
  'http://a/http://b/v1/login',
  'http://a?http://b/v1/login',
  'http://a',
  'http://a?b',
  'http://',
  '*',
  '*v1/login',
  '*?/v1/login',
  '*://a/v1/login',
  'a:443',
  'v1/login',
  'xv1/login',
  '?/v1/login',
  '',
  '/',
  '/?/v1/login',
  '/#/v1/login',
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
  'http://any?x/search/y',
  '*search/x',
];

const DOCUMENT = `
rules:
  - { name: login, match: { path: /v1/login }, limit: { fixedWindow: { limit: 1000, window: 1h } } }
  - { name: search, match: { path: /search/* }, limit: { fixedWindow: { limit: 1000, window: 1h } } }
  - { name: root, match: { path: / }, limit: { fixedWindow: { limit: 1000, window: 1h } } }
  - { name: health, match: { path: /health }, unlimited: true }
`;

/** The one path of a handler; `search` has many. */
const PATHS: Readonly<Record<string, string>> = { login: '/v1/login', root: '/' };

export interface Served {
  readonly port: number;
  readonly http2: boolean;
  close(): Promise<unknown>;
}

/** Its header tells by which path a request was counted: `pk` is a digest of the key. */
const byPath = () => ({
  policy: fixedWindow({ limit: 1_000, window: '1h' }),
  key: '#{path}',
  name: 'path',
  partitionKey: true,
});

interface Closes {
  close(): Promise<unknown>;
}

async function listening(server: Server, ...limits: Closes[]) {
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = async () => {
    await new Promise((resolve) => server.close(resolve));
    for (const limit of limits) await limit.close();
  };
  return { port, close };
}

export async function serveExpress(create: typeof express): Promise<Served> {
  const app = create();
  const rules = new Rules(DOCUMENT);
  const limit = rateLimitExpress(byPath());
  app.use(limit, rateLimitExpress({ rules }));
  app.get('/v1/login', (_request, response) => void response.send('handled login'));
  app.use('/search', (_request, response) => void response.send('handled search'));
  app.get('/', (_request, response) => void response.send('handled root'));
  return { ...(await listening(createServer(app as RequestListener), limit, rules)), http2: false };
}

export async function serveKoa(K: typeof Koa, R: typeof Router, http2 = false): Promise<Served> {
  const app = new K();
  app.silent = true;
  const rules = new Rules(DOCUMENT);
  const limit = rateLimitKoa(byPath());
  const router = new R();
  const answers = (body: string) => (context: Koa.Context) => void Object.assign(context, { body });
  router.get('/v1/login', answers('handled login')).get('/', answers('handled root'));
  app
    .use(limit)
    .use(rateLimitKoa({ rules }))
    .use(router.routes() as never);
  app.use((context) => {
    if (/^\/search(\/|$)/i.test(context.path)) context.body = 'handled search';
  });
  const server = http2 ? createServer2(app.callback() as never) : createServer(app.callback());
  return { ...(await listening(server as Server, limit, rules)), http2 };
}

export async function serveFastify(create: typeof fastify, http2 = false): Promise<Served> {
  const app = create({ routerOptions: { caseSensitive: false }, http2: http2 as true });
  const rules = new Rules(DOCUMENT);
  await app.register(fastifyPlugin);
  const limit = app.rateLimit(byPath());
  const byRules = app.rateLimit({ rules });
  app.addHook('onRequest', limit as never).addHook('onRequest', byRules as never);
  app.get('/v1/login', async () => 'handled login');
  for (const path of ['/search', '/search/*']) app.get(path, async () => 'handled search');
  app.get('/', async () => 'handled root');
  await app.ready();
  return { ...(await listening(app.server as never, limit, rules)), http2 };
}

interface Answer {
  readonly body: string;
  readonly limits: string;
}

/** As it is written: `fetch` and `http.request` would not send all of them. */
const ask1 = (port: number, target: string): Promise<Answer> =>
  new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(`GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    });
    socket.on('data', (chunk) => (text += chunk)).once('error', reject);
    socket.once('close', () => {
      const [head = '', body = ''] = text.split('\r\n\r\n');
      resolve({ body, limits: /^ratelimit: (.*)$/im.exec(head)?.[1] ?? '' });
    });
  });

/** With a scheme other than `http`, Node accepts any text as a path. */
const ask2 = (session: ClientHttp2Session, target: string): Promise<Answer> =>
  new Promise((resolve) => {
    const answer = { body: '', limits: '' };
    const stream = session.request({ ':path': target, ':scheme': target.startsWith('/') ? 'http' : 'x' });
    stream.on('response', ({ ratelimit }) => (answer.limits = String(ratelimit)));
    stream.on('data', (chunk) => (answer.body += chunk)).on('error', () => {}); // refused by Node
    stream.once('close', () => resolve(answer));
  });

/** Sends each target. @returns those that reached a handler, and those of them that were not counted for it */
export async function reached({ port, http2 }: Served) {
  const session = http2 ? connect2(`http://127.0.0.1:${port}`) : undefined;
  const ask = (target: string) => (session ? ask2(session, target) : ask1(port, target));
  const digest = ({ limits }: Answer) => /"path".*?pk=(:[^:]+:)/.exec(limits)?.[1] ?? 'none';
  const digests = new Map<string, string>();
  for (const [name, path] of Object.entries(PATHS)) digests.set(name, digest(await ask(path)));
  const found: string[] = [];
  const uncounted: string[] = [];
  await Promise.all(
    TARGETS.map(async (target) => {
      const answer = await ask(target);
      const name = /handled (\w+)/.exec(answer.body)?.[1];
      if (name === undefined) return;
      found.push(target);
      const counted = digest(answer) === (digests.get(name) ?? digest(answer));
      if (!counted || !answer.limits.includes(`"rules.${name}"`)) uncounted.push(`${target} at ${name}`);
    }),
  );
  session?.close();
  return { found, uncounted };
}
