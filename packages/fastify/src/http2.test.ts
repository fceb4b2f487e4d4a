import { once } from 'node:events';
import { type ClientHttp2Session, connect, constants, type Http2ServerRequest } from 'node:http2';
import { PassThrough } from 'node:stream';
import { concurrency, fixedWindow, RateLimiter } from '@sluice/core';
import fastify from 'fastify';
import { rateLimit } from './index.js';

const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

/** An HTTP/2 server in clear text, and a client of it. */
async function serve(options: object, handler: () => unknown): Promise<ClientHttp2Session> {
  const app = fastify({ http2: true });
  open.push(() => app.close());
  await app.register(rateLimit, options);
  app.get('/', async () => handler());
  const session = connect(await app.listen({ port: 0, host: '127.0.0.1' }));
  open.push(() => session.destroy());
  return session;
}

async function get(session: ClientHttp2Session) {
  const stream = session.request({ ':path': '/' });
  const [headers] = await once(stream, 'response');
  return { stream, headers };
}

test('requests are limited and receive headers', async () => {
  const session = await serve({ policy: fixedWindow({ limit: 1, window: '1h' }) }, () => 'ok');
  const { headers } = await get(session);
  expect(headers).toMatchObject({ ':status': 200, 'ratelimit-policy': '"default";q=1;w=3600' });
  const denied = await get(session);
  expect(denied.headers[':status']).toBe(429);
  expect(denied.headers).toHaveProperty('retry-after');
});

test.each<[string, (stream: { close(): void }, body: PassThrough) => unknown]>([
  ['ends', (_, body) => body.end()],
  ['is closed by the client', (stream) => stream.close()],
  ['fails in the server', (_, body) => body.destroy(new Error('the disk is gone'))],
])('a held permit is released when the response stream %s', async (_, end) => {
  const limiter = new RateLimiter({ name: 'busy', policy: concurrency({ limit: 1, lease: '1h' }) });
  open.push(() => limiter.close());
  const body = new PassThrough();
  const session = await serve({ limiter, limitType: 'METHOD' }, () => body);
  body.write('begun');
  const { stream } = await get(session);
  stream.on('error', () => {}); // the stream may end with an error
  stream.resume();
  expect(await limiter.peek('all')).toMatchObject({ remaining: 0 });
  end(stream, body);
  await limiter.release(await limiter.acquire('all'));
});

test('a client that disconnects before its response is complete does not count as a success', async () => {
  const limiter = new RateLimiter({ name: 'logins', policy: fixedWindow({ limit: 5, window: '1h' }) });
  open.push(() => limiter.close());
  const bodies = [new PassThrough(), new PassThrough()];
  const left = [...bodies];
  const session = await serve({ limiter, limitType: 'METHOD', skipSuccessfulRequests: true }, () =>
    left.shift(),
  );
  for (const body of bodies) {
    body.write('begun');
    const { stream } = await get(session);
    stream.on('error', () => {}); // its own end
    if (body === bodies[0]) body.end('x'.repeat(1_000_000)); // more than the client takes
    const closed = once(body, 'close');
    stream.close(body === bodies[0] ? constants.NGHTTP2_CANCEL : constants.NGHTTP2_NO_ERROR);
    await closed;
  }
  expect(await limiter.peek('all')).toMatchObject({ remaining: 3 });
});

test('a client that disconnects before its key is read causes no error', async () => {
  const app = fastify({ http2: true });
  open.push(() => app.close());
  const errors: unknown[] = [];
  app.setErrorHandler((error, _request, reply) => {
    errors.push(error);
    return reply.send('sorry');
  });
  let left = () => {};
  const leaving = new Promise<void>((resolve) => {
    left = resolve;
  });
  await app.register(rateLimit, {
    policy: fixedWindow({ limit: 1, window: '1h' }),
    skip: async ({ raw }) => {
      const closed = once((raw as unknown as Http2ServerRequest).stream, 'close');
      stream.close(constants.NGHTTP2_CANCEL);
      await closed;
      left();
      return false;
    },
  });
  app.get('/', async () => 'ok');
  const session = connect(await app.listen({ port: 0, host: '127.0.0.1' }));
  open.push(() => session.destroy());
  const stream = session.request({ ':path': '/' });
  stream.on('error', () => {}); // the stream may end with an error
  await leaving;
  for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
  expect(errors).toEqual([]);
});

test('hooks and checks accept the types of an HTTP/2 server', async () => {
  const app = fastify({ http2: true });
  open.push(() => app.close());
  await app.register(rateLimit);
  const check = app.createRateLimit({ max: 5 });
  const onRequest = app.rateLimit({ max: 1, limitType: 'METHOD' });
  app.get('/', { onRequest }, async (request) => JSON.stringify(await check(request)));
  const session = connect(await app.listen({ port: 0, host: '127.0.0.1' }));
  open.push(() => session.destroy());
  expect((await get(session)).headers[':status']).toBe(200);
  expect((await get(session)).headers[':status']).toBe(429);
});
