import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fixedWindow, RateLimiter, type RedisStore, redisStore } from '@sluice/core';
import { rateLimit as limitExpress } from '@sluice/express';
import { rateLimit as limitFastify } from '@sluice/fastify';
import { rateLimit as limitKoa } from '@sluice/koa';
import express from 'express';
import express4 from 'express-4';
import fastify from 'fastify';
import Koa from 'koa';
import { freePort } from '../../support/redis/free-port.js';

// A response that was already started cannot become a 429, but a denial must not leave it open.

const policy = fixedWindow({ limit: 1, window: '1h' });
let server: Server | undefined;
let store: RedisStore;

beforeAll(async () => {
  store = redisStore(`redis://127.0.0.1:${await freePort()}`);
});
afterAll(() => store.close());

afterEach(async () => {
  server?.closeAllConnections();
  await new Promise((resolve) => (server === undefined ? resolve(undefined) : server.close(resolve)));
  server = undefined;
});

/** What a client receives for one request: a whole response or a broken one. */
async function seen(): Promise<{ status: number; text: string; complete: boolean }> {
  const { port } = server!.address() as AddressInfo;
  const [response] = (await once(get({ port, host: '127.0.0.1' }), 'response')) as [IncomingMessage];
  let text = '';
  response.setEncoding('utf8').on('data', (chunk) => {
    text += chunk;
  });
  response.on('error', () => {}); // the error of a broken response
  await new Promise((resolve) => response.once('close', resolve));
  return { status: response.statusCode!, text, complete: response.complete };
}

async function listen(listener: RequestListener): Promise<void> {
  server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
}

const withExpress = (framework: typeof express, headers?: Record<string, number>) => () => {
  const app = framework();
  app.use((_, response, next) => {
    response.writeHead(200, headers).write('begun');
    next();
  });
  app.use(limitExpress({ policy }));
  app.use((_, response) => void response.end(', done'));
  return listen(app);
};

const served: [string, () => Promise<void>][] = [
  ['Express 5', withExpress(express)],
  ['Express 4', withExpress(express4 as unknown as typeof express)],
  [
    'Koa',
    () => {
      const app = new Koa();
      app.use((context, next) => {
        context.res.writeHead(200).write('begun');
        return next();
      });
      app.use(limitKoa({ policy }));
      app.use((context) => {
        context.respond = false;
        context.res.end(', done');
      });
      return listen(app.callback());
    },
  ],
  [
    'Koa without respond',
    () => {
      const app = new Koa();
      app.use((context, next) => {
        context.respond = false;
        context.res.writeHead(200).write('begun');
        return next();
      });
      app.use(limitKoa({ policy }));
      app.use((context) => void context.res.end(', done'));
      return listen(app.callback());
    },
  ],
  ...(['onRequest', 'preHandler'] as const).map((hook): [string, () => Promise<void>] => [
    `Fastify, ${hook}`,
    async () => {
      const app = fastify({ serverFactory: (handler) => (server = createServer(handler)) });
      app.addHook('onRequest', async (_, reply) => {
        reply.raw.writeHead(200).write('begun');
      });
      await app.register(limitFastify, { policy, hook });
      app.get('/', (_, reply) => {
        reply.hijack().raw.end(', done');
      });
      await app.listen({ port: 0, host: '127.0.0.1' });
    },
  ]),
];

test.each(served)('%s: a denial ends a response that was already started', async (_, start) => {
  await start();
  expect(await seen()).toEqual({ status: 200, text: 'begun, done', complete: true });
  expect(await seen()).toEqual({ status: 200, text: 'begun', complete: true });
});

test('a response that cannot reach its announced length is broken off', async () => {
  await withExpress(express, { 'Content-Length': 11 })();
  expect(await seen()).toEqual({ status: 200, text: 'begun, done', complete: true });
  expect(await seen()).toEqual({ status: 200, text: 'begun', complete: false });
});

test.each<[string, () => object]>([
  ['a missing key', () => ({ key: '#{user.id}' })],
  ['an address on the denyList', () => ({ denyList: ['127.0.0.1'] })],
  ['a store that is out', () => ({ name: 'begun', failurePolicy: 'deny', store })],
  [
    'a denial that would be thrown',
    () => ({ policy: fixedWindow({ limit: 1, window: '1h' }), cost: 2, throw: true }),
  ],
])('%s also ends the response', async (_, options) => {
  const app = express();
  app.use((_request, response, next) => {
    response.write('begun');
    next();
  });
  app.use(limitExpress({ policy, ...options() }));
  await listen(app);
  expect(await seen()).toEqual({ status: 200, text: 'begun', complete: true });
});

test('a later write to the response does not end the process', async () => {
  const app = express();
  const written: unknown[] = [];
  app.use((_, response, next) => {
    response.write('begun');
    next();
    response.write('more', (error) => written.push(error));
  });
  app.use(limitExpress({ policy }));
  app.use((_, response) => void setImmediate(() => response.end()));
  await listen(app);
  expect((await seen()).text).toBe('begunmore');
  expect(await seen()).toEqual({ status: 200, text: 'begun', complete: true });
  expect(written).toEqual([null, expect.objectContaining({ code: 'ERR_STREAM_WRITE_AFTER_END' })]);
});

/** A denial inside a handler that has already started the response. */
const failing: [string, (limiter: RateLimiter) => Promise<void>][] = [
  [
    'Express 5',
    (limiter) =>
      listen(
        express()
          .set('env', 'test')
          .get('/', async (_, response) => {
            response.write('begun');
            await limiter.acquire('all', { timeout: 0 });
            response.end(', done');
          }),
      ),
  ],
  [
    'Koa',
    (limiter) => {
      const app = new Koa();
      app.silent = true;
      app.use(limitKoa({ policy: fixedWindow({ limit: 99, window: '1h' }) }));
      app.use(async (context) => {
        context.respond = false;
        context.res.writeHead(200).write('begun');
        await limiter.acquire('all', { timeout: 0 });
        context.res.end(', done');
      });
      return listen(app.callback());
    },
  ],
  [
    'Fastify',
    async (limiter) => {
      const app = fastify({ serverFactory: (handler) => (server = createServer(handler)) });
      await app.register(limitFastify, { policy: fixedWindow({ limit: 99, window: '1h' }) });
      app.get('/', async (_, reply) => {
        reply.raw.write('begun');
        await limiter.acquire('all', { timeout: 0 });
        reply.hijack().raw.end(', done');
      });
      await app.listen({ port: 0, host: '127.0.0.1' });
    },
  ],
];

test.each(failing)(
  '%s: a denial thrown after the handler started the response also ends it',
  async (_, start) => {
    const limiter = new RateLimiter({ policy });
    await start(limiter);
    expect(await seen()).toEqual({ status: 200, text: 'begun, done', complete: true });
    expect((await seen()).text).toBe('begun');
    await limiter.close();
  },
);
