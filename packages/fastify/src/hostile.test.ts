import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { fixedWindow } from '@sluice/core';
import fastify, { type FastifyInstance } from 'fastify';
import { rateLimit } from './index.js';

const hourly = (limit: number) => fixedWindow({ limit, window: '1h' });

let app: FastifyInstance;
beforeEach(() => {
  app = fastify();
});
afterEach(() => app.close());

const status = async (url: string, method: 'GET' | 'HEAD' = 'GET', headers = {}) =>
  (await app.inject({ url, method, headers })).statusCode;

test.each(['onRequest', 'preParsing', 'preValidation', 'preHandler'] as const)(
  'a plugin at %s limits, and a message function that rejects causes a 500',
  async (hook) => {
    const handler = jest.fn();
    await app.register(rateLimit, {
      policy: hourly(1),
      hook,
      message: () => Promise.reject(undefined),
    });
    app.get('/', async () => handler());
    expect([await status('/'), await status('/'), await status('/')]).toEqual([200, 500, 500]);
    expect(handler).toHaveBeenCalledTimes(1);
  },
);

test.each(['onExceeded', 'onBanReach'] as const)(
  'a denied request gets a 500 if %s of a plugin or a route rejects without an error',
  async (option) => {
    const handler = jest.fn(() => 'ok');
    const rejects = { policy: hourly(1), ban: 0, [option]: () => Promise.reject(undefined) };
    await app.register(rateLimit, rejects);
    app.get('/', async () => handler());
    app.get('/own', { config: { rateLimit: { max: 1 } } }, async () => handler());
    for (const url of ['/', '/own']) {
      expect([await status(url), await status(url), await status(url)]).toEqual([200, 500, 500]);
    }
    expect(handler).toHaveBeenCalledTimes(2);
  },
);

test('a denied client that disconnects while its response is prepared does not reach the handler', async () => {
  const handler = jest.fn(() => 'ok');
  let prepare = (_socket: Socket) => {};
  const preparing = new Promise<Socket>((resolve) => {
    prepare = resolve;
  });
  let prepared = () => {};
  const answered = new Promise<void>((resolve) => {
    prepared = resolve;
  });
  await app.register(rateLimit);
  app.addHook('onSend', async ({ headers, raw }) => {
    if (headers['x-second'] === undefined) return;
    prepare(raw.socket);
    await answered;
  });
  app.get('/', { preHandler: app.rateLimit({ policy: hourly(1) }) }, async () => handler());
  const { port } = new URL(await app.listen({ port: 0, host: '127.0.0.1' }));
  await fetch(`http://127.0.0.1:${port}/`);
  const client = connect(Number(port), '127.0.0.1');
  client.write('GET / HTTP/1.1\r\nHost: a\r\nx-second: yes\r\n\r\n');
  const socket = await preparing;
  const closed = once(socket, 'close');
  client.destroy();
  await closed;
  for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
  prepared();
  for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
  expect(handler).toHaveBeenCalledTimes(1);
});

test('a path has one key in every spelling', async () => {
  await app.register(rateLimit, { policy: hourly(1), key: '#{path}' });
  app.get('/login', async () => 'ok');
  const written = ['/login?a=1', 'http://evil/login', '/login#1', '/l%6Fgin'];
  expect(await status('/login')).toBe(200);
  for (const url of written) expect({ url, status: await status(url) }).toEqual({ url, status: 429 });
});

test('routes that differ only in constraints count separately', async () => {
  await app.register(rateLimit, { global: false });
  for (const [version, max] of [
    ['1.0.0', 1],
    ['2.0.0', 9],
  ] as const) {
    app.get('/v', { constraints: { version }, config: { rateLimit: { max } } }, async () => version);
  }
  const statusFor = (version: string) => status('/v', 'GET', { 'accept-version': version });
  expect([
    await statusFor('1.0.0'),
    await statusFor('1.0.0'),
    await statusFor('2.0.0'),
    await statusFor('1.0.0'),
  ]).toEqual([200, 429, 200, 429]);
});

test("a route with `max` alone uses the plugin's window, and HEAD counts with its GET", async () => {
  await app.register(rateLimit, { max: 100, timeWindow: '1h' });
  app.route({
    method: ['GET', 'POST'],
    url: '/m',
    config: { rateLimit: { max: 1 } },
    handler: async () => 'ok',
  });
  const { headers } = await app.inject('/m');
  expect(headers['ratelimit-policy']).toBe('"GET.POST:/m";q=1;w=3600');
  expect(await status('/m', 'HEAD')).toBe(429);
});

test.each([true, null, 5, 'x'])(
  'config.rateLimit: %j is refused, and the error names the route',
  async (own) => {
    await app.register(rateLimit, { policy: hourly(1) });
    expect(() => app.get('/r', { config: { rateLimit: own as never } }, async () => 'ok')).toThrow(
      'config.rateLimit of GET /r must be an object of options or false',
    );
  },
);

test('a hook exposes its limiter and refund', async () => {
  await app.register(rateLimit);
  const hook = app.rateLimit({ policy: hourly(1), limitType: 'METHOD' });
  app.get('/', { onRequest: hook }, async (request) => {
    await hook.refund(request.rateLimit!);
    return 'ok';
  });
  expect([await status('/'), await status('/')]).toEqual([200, 200]);
  expect(await hook.limiter.peek('all')).toMatchObject({ remaining: 1 });
});
