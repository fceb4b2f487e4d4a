import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { serve } from '@hono/node-server';
import { fixedWindow, memoryStore, RateLimiter } from '@sluice/core';
import { readDefinitions } from '@sluice/fleet';
import express from 'express';
import express4 from 'express-4';
import fastify from 'fastify';
import { Hono } from 'hono';
import Koa from 'koa';
import { dashboard, nodeHandler } from './index.js';

// The page behind the sign-in of each framework, as the README shows it.

const store = memoryStore();
const limiter = new RateLimiter({ name: 'login', policy: fixedWindow({ limit: 1, window: '1h' }), store });
const isAdmin = (user: string | undefined) => user === 'ann';
type SignedIn = IncomingMessage & { user?: string | undefined };

const forNode = () => dashboard<SignedIn>(store, { authorize: (_, { user }) => isAdmin(user), write: true });
const listening = async (server: Server) => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return server;
};

const frameworks: Record<string, () => Promise<{ server: Server; close(): Promise<unknown> }>> = {
  async 'node:http'() {
    const page = forNode();
    const handler = nodeHandler(page);
    const server = createServer((request: SignedIn, response) => {
      request.user = request.headers.cookie?.slice('user='.length);
      void handler(request, response);
    });
    return { server: await listening(server), close: () => page.close() };
  },
  async 'Express 5, with a body parser'() {
    const page = forNode();
    const app = express().use(express.json());
    app.use((request, _response, next) => {
      (request as SignedIn).user = request.headers.cookie?.slice('user='.length);
      next();
    });
    app.use('/limits', nodeHandler(page));
    return { server: await listening(createServer(app)), close: () => page.close() };
  },
  async 'Express 4'() {
    const page = forNode();
    const app = express4();
    app.use((request, _response, next) => {
      (request as SignedIn).user = request.headers.cookie?.slice('user='.length);
      next();
    });
    app.use('/limits', nodeHandler(page));
    return { server: await listening(createServer(app)), close: () => page.close() };
  },
  async Fastify() {
    const page = forNode();
    const handler = nodeHandler(page);
    const app = fastify();
    const serveIt = (
      request: { raw: IncomingMessage; body: unknown; headers: IncomingMessage['headers'] },
      reply: { hijack(): unknown; raw: import('node:http').ServerResponse },
    ) => {
      reply.hijack();
      const user = request.headers.cookie?.slice('user='.length);
      return handler(Object.assign(request.raw, { user, body: request.body }) as SignedIn, reply.raw);
    };
    app.all('/limits', serveIt);
    app.all('/limits/*', serveIt);
    await app.listen({ port: 0, host: '127.0.0.1' });
    return { server: app.server, close: () => page.close() };
  },
  async Koa() {
    const page = forNode();
    const handler = nodeHandler(page);
    const app = new Koa();
    app.use((context, next) => {
      if (!/^\/limits(?:\/|$)/.test(context.path)) return next();
      context.respond = false;
      const user = context.cookies.get('user');
      return handler(Object.assign(context.req, { user }) as SignedIn, context.res);
    });
    return { server: await listening(createServer(app.callback())), close: () => page.close() };
  },
  async Hono() {
    const app = new Hono();
    const page = dashboard<string | undefined>(store, { authorize: (_, user) => isAdmin(user), write: true });
    app.all('/limits/*', (context) =>
      page(context.req.raw, context.req.header('Cookie')?.slice('user='.length)),
    );
    const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }) as Server;
    await once(server, 'listening');
    return { server, close: () => page.close() };
  },
};

beforeAll(async () => {
  while ((await readDefinitions(store)).length === 0) await sleep(50);
});
afterAll(() => limiter.close());

describe.each(Object.entries(frameworks))('%s', (_, open) => {
  let server: Server;
  let close: () => Promise<unknown>;
  let origin: string;
  const cookie = { Cookie: 'user=ann' };

  beforeAll(async () => {
    ({ server, close } = await open());
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    await close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const change = (headers: Record<string, string>) =>
    fetch(`${origin}/limits/change`, {
      method: 'POST',
      headers: { Origin: origin, 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify({ limiter: 'login', key: 'ü', action: 'reset', confirmed: true }),
    });

  test('serves the page to a signed-in user, at an address that ends with a slash', async () => {
    const response = await fetch(`${origin}/limits`, { headers: cookie });
    expect([response.status, response.url]).toEqual([200, `${origin}/limits/`]);
    expect(await response.text()).toContain('<title>Sluice');
    for (const file of ['page.js', 'page.css']) {
      const { status, headers } = await fetch(`${origin}/limits/${file}`, { headers: cookie });
      expect([status, headers.get('Content-Type')]).toEqual([
        200,
        expect.stringMatching(/^text\/(javascript|css)/),
      ]);
    }
  });

  test('responds 401 to other users', async () => {
    for (const headers of [{}, { Cookie: 'user=bob' }]) {
      for (const path of ['/', '/events', '/page.js']) {
        expect((await fetch(`${origin}/limits${path}`, { headers })).status).toBe(401);
      }
      expect((await change(headers)).status).toBe(401);
    }
  });

  test('streams decisions', async () => {
    const aborted = new AbortController();
    const response = await fetch(`${origin}/limits/events`, { headers: cookie, signal: aborted.signal });
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    const until = async (part: string) => {
      while (!text.includes(part)) text += (await reader.read()).value;
    };
    await until('event: about\ndata: {"store":"memory","address":null,"write":true}\n\n');
    await limiter.consume('ü');
    await limiter.consume('ü');
    await until('"key":{"text":"ü","known":true}');
    aborted.abort();
  });

  test('changes a key', async () => {
    await limiter.consume('ü');
    expect((await limiter.peek('ü')).allowed).toBe(false);
    const response = await change(cookie);
    expect([response.status, await response.json()]).toEqual([
      200,
      { done: 'Reset. Before: login had 0 left.' },
    ]);
    expect((await limiter.peek('ü')).allowed).toBe(true);
  });
});
