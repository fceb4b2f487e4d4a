import type { Server } from 'node:http';
import { fixedWindow, memoryStore } from '@sluice/core';
import express from 'express';
import supertest from 'supertest';
import { rateLimit } from './index.js';

let server: Server | undefined;
afterEach((done) => {
  if (server === undefined) done();
  else server.close(done);
  server = undefined;
});

async function serve(...handlers: express.RequestHandler[]) {
  server = express().use(handlers).listen(0, '127.0.0.1');
  await new Promise((resolve) => server!.once('listening', resolve));
  return supertest(server);
}

const ok: express.RequestHandler = (_request, response) => {
  response.send('ok');
};

test("a policy function receives Express's request and response, with their types", async () => {
  const limit = rateLimit({
    policy: (request, response) =>
      fixedWindow({ limit: request.get('x-plan') === 'premium' ? 2 : 1, window: response.locals.window }),
  });
  const client = await serve(
    (_request, response, next) => {
      response.locals.window = '1m';
      next();
    },
    limit,
    ok,
  );
  await client.get('/').expect(200).expect('RateLimit-Policy', '"default";q=1;w=60');
  await client.get('/').expect(429);
  await client.get('/').set('x-plan', 'premium').expect(200);
  await client.get('/').set('x-plan', 'premium').expect(429);
  expect(() => limit.limiter).toThrow(TypeError);
});

test('limit.limiter offers peek and reset', async () => {
  const limit = rateLimit({ policy: fixedWindow({ limit: 1, window: '1m' }), limitType: 'METHOD' });
  const client = await serve(limit, ok);
  await client.get('/').expect(200);
  await limit.limiter.reset('all');
  await client.get('/').expect(200);
});

test('RateLimit headers that other code set are kept, in one line or several', async () => {
  const client = await serve(
    (_request, response, next) => {
      response.setHeader('RateLimit', ['"cdn";r=1;t=1', '"edge";r=2;t=2']);
      response.setHeader('RateLimit-Policy', '"cdn";q=1;w=1');
      next();
    },
    rateLimit({ policy: fixedWindow({ limit: 1, window: '1m' }) }),
    ok,
  );
  await client
    .get('/')
    .expect('RateLimit', '"cdn";r=1;t=1, "edge";r=2;t=2, "default";r=0;t=60')
    .expect('RateLimit-Policy', '"cdn";q=1;w=1, "default";q=1;w=60');
});

test('a limit connects its store before the first request', async () => {
  const connect = jest.fn(async () => {});
  const store = Object.assign(memoryStore(), { connect });
  await rateLimit({ name: 'early', policy: fixedWindow({ limit: 1, window: '1m' }), store }).connect();
  expect(connect).toHaveBeenCalledTimes(1);
});
