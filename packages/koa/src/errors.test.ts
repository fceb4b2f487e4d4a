import type { AddressInfo, Server } from 'node:net';
import { fixedWindow, ManualClock, memoryStore, RateLimiter } from '@sluice/core';
import Koa from 'koa';
import supertest from 'supertest';
import { rateLimit } from './index.js';

let limits: Koa.Middleware[];
beforeEach(() => {
  // Its clock does not advance, so headers show the same seconds on a slow machine.
  const store = memoryStore({ clock: new ManualClock() });
  limits = ['first', 'second'].map((name) =>
    rateLimit({ name, policy: fixedWindow({ limit: 9, window: '1m' }), store }),
  );
});

const inner = () =>
  new RateLimiter({
    name: 'inner',
    policy: fixedWindow({ limit: 1, window: '1h' }),
    store: memoryStore({ clock: new ManualClock() }),
  });

let server: Server | undefined;
afterEach((done) => {
  if (server === undefined) done();
  else server.close(done);
  server = undefined;
});

async function serving(...all: Koa.Middleware[]) {
  const app = new Koa();
  app.silent = true;
  for (const middleware of all) app.use(middleware);
  server = app.listen(0, '127.0.0.1');
  await new Promise((resolve) => server!.once('listening', resolve));
  return supertest(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
}

/** A service behind two limits that throws. */
const failing = (thrown: () => unknown, outermost: Koa.Middleware = (_context, next) => next()) =>
  serving(outermost, ...limits, () => {
    throw thrown();
  });

const both = /^"first";r=(\d);t=\d+, "second";r=\1;t=\d+$/;

test('an error response has the headers of the error and those of the limits', async () => {
  const error = Object.assign(new Error('no'), { status: 401, headers: { 'WWW-Authenticate': 'Basic' } });
  const client = await failing(() => error);
  await client.get('/').expect(401).expect('WWW-Authenticate', 'Basic').expect('RateLimit', both);
  expect(Object.keys(error)).not.toContain('RateLimit');
});

test('an error object thrown for several requests carries the headers of each request', async () => {
  const error = new Error('always the same');
  const client = await failing(() => error);
  for (const left of [8, 7, 6]) {
    const { headers } = await client.get('/').expect(500);
    expect(headers.ratelimit).toBe(`"first";r=${left};t=60, "second";r=${left};t=60`);
  }
});

test('a denial adds its policy to the RateLimit lists', async () => {
  const limiter = inner();
  await limiter.consume('k');
  const error = await limiter.acquire('k', { timeout: 0 }).catch((reason: unknown) => reason);
  const client = await failing(() => error);
  const { headers } = await client.get('/').expect(429).expect('Retry-After', '3600');
  expect(headers.ratelimit).toMatch(/^"first";.*, "second";.*, "inner";r=0;t=3600$/);
});

test('a frozen error, which cannot carry headers, passes unchanged', async () => {
  const frozen = Object.freeze(Object.assign(new Error('ice'), { status: 400, expose: true }));
  let caught: unknown;
  const client = await failing(
    () => frozen,
    async (context, next) => {
      try {
        await next();
      } catch (error) {
        caught = error;
        context.status = 204;
      }
    },
  );
  await client.get('/').expect(204).expect('RateLimit', both);
  expect(caught).toBe(frozen);
});

test.each<[string, Koa.Middleware, Koa.Middleware]>([
  [
    'a body that cannot be written as JSON',
    (_context, next) => next(),
    (context) => {
      context.body = { big: 1n };
    },
  ],
  [
    'middleware in front of the limits',
    async (_context, next) => {
      await next();
      throw new Error('after all');
    },
    (context) => {
      context.body = 'ok';
    },
  ],
  [
    'a callback that passes its error to Koa',
    (_context, next) => next(),
    (context) => {
      context.respond = false;
      setImmediate(() => context.onerror(new Error('later')));
    },
  ],
])('an error of %s has the headers of the limits', async (_, outermost, last) => {
  const client = await serving(outermost, ...limits, last);
  await client.get('/').expect(500).expect('RateLimit', both);
});

test('an error that a handler throws has the headers of the denial', async () => {
  const limit = rateLimit({
    max: 1,
    duration: '1h',
    store: memoryStore({ clock: new ManualClock() }),
    name: 'strict',
    handler: (context) => context.throw(429, 'slow down'),
  });
  const client = await serving(limit, (context) => {
    context.body = 'ok';
  });
  await client.get('/').expect(200);
  await client
    .get('/')
    .expect(429, 'slow down')
    .expect('Retry-After', '3600')
    .expect('RateLimit', '"strict";r=0;t=3600');
});

test('a thrown value that is not an error gets 500', async () => {
  const client = await failing(() => 'text');
  await client.get('/').expect(500);
});

/** The error of a limiter that is used without a limit on requests. */
async function denial(): Promise<Error> {
  const limiter = inner();
  await limiter.consume('k');
  return limiter.acquire('k', { timeout: 0 }).then(
    () => new Error('allowed'),
    (reason: Error) => reason,
  );
}

test('ctx.throw accepts Sluice errors', async () => {
  const denied = await denial();
  const client = await failing(
    () => undefined,
    async (context) => context.throw(denied),
  );
  const { headers } = await client.get('/').expect(429).expect('Retry-After', '3600');
  expect(headers).not.toHaveProperty('ratelimit'); // in front of the limits, Koa answers alone
});

test('the answer to a limiter that is used behind limits has the headers of all', async () => {
  const denied = await denial();
  const client = await failing(() => denied);
  await client
    .get('/')
    .expect(429)
    .expect('Retry-After', '3600')
    .expect('RateLimit', /^"first";r=(\d);t=\d+, "second";r=\1;t=\d+, "inner";r=0;t=3600$/)
    .expect('RateLimit-Policy', '"first";q=9;w=60, "second";q=9;w=60, "inner";q=1;w=3600');
});
