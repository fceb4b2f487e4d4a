import { fixedWindow } from '@sluice/core';
import fastify, { type FastifyInstance, type FastifyReply } from 'fastify';
import { type RateLimitPluginOptions, rateLimit } from './index.js';

const hourly = (limit: number) => fixedWindow({ limit, window: '1h' });
const ok = async () => 'ok';

let app: FastifyInstance;
beforeEach(() => {
  app = fastify();
});
afterEach(() => app.close());

async function serve(options: RateLimitPluginOptions): Promise<void> {
  await app.register(rateLimit, { policy: hourly(1), ...options });
  app.get('/', ok);
}
const get = async () => {
  const { statusCode, headers, body } = await app.inject('/');
  return { statusCode, type: headers['content-type'], body };
};

test('a problem response has no charset, because its type defines none', async () => {
  await serve({});
  await get();
  expect(await get()).toMatchObject({ statusCode: 429, type: 'application/problem+json' });
  const asJson = await app.inject({ url: '/', headers: { accept: 'application/json' } });
  expect(asJson.headers['content-type']).toBe('application/json; charset=utf-8');
});

test('onExceeding runs for requests that pass, onExceeded for denials, both with the key', async () => {
  const calls: unknown[] = [];
  await serve({
    policy: hourly(2),
    onExceeding: ({ rateLimit: decision }, key) => calls.push(['passes', key, decision?.remaining]),
    onExceeded: ({ rateLimit: decision }, key) => calls.push(['denied', key, decision?.allowed]),
    allowList: ({ headers }) => headers['x-vip'] === 'yes',
  });
  for (let i = 0; i < 3; i += 1) await get();
  await app.inject({ url: '/', headers: { 'x-vip': 'yes' } });
  expect(calls).toEqual([
    ['passes', '127.0.0.1', 1],
    ['passes', '127.0.0.1', 0],
    ['denied', '127.0.0.1', false],
  ]);
});

test.each(['onExceeding', 'onExceeded'] as const)(
  '%s of a hook runs too, and its error fails the request',
  async (option) => {
    const fails = jest.fn().mockRejectedValueOnce(undefined).mockReturnValue(undefined);
    await app.register(rateLimit);
    app.get('/', { onRequest: app.rateLimit({ policy: hourly(1), [option]: fails }) }, ok);
    const statuses = [(await get()).statusCode, (await get()).statusCode, (await get()).statusCode];
    expect(statuses).toEqual(option === 'onExceeding' ? [500, 429, 429] : [200, 500, 429]);
  },
);

test('a key with more denials than `ban` gets 403', async () => {
  const onBanReach = jest.fn();
  await serve({ ban: 2, onBanReach });
  const statuses = [];
  for (let i = 0; i < 5; i += 1) statuses.push((await get()).statusCode);
  expect(statuses).toEqual([200, 429, 429, 403, 403]);
  expect(onBanReach.mock.calls.map(([, key]) => key)).toEqual(['127.0.0.1', '127.0.0.1']);
  const { headers, body } = await app.inject('/');
  expect(headers).toHaveProperty('retry-after');
  expect(JSON.parse(body)).toMatchObject({
    status: 403,
    title: 'Forbidden',
    'violated-policies': ['default'],
  });
});

test('ban 0 responds 403 to each denial, and the handler sees that status', async () => {
  await serve({ ban: 0, handler: (_request, reply) => `status ${reply.statusCode}` });
  await get();
  expect(await get()).toMatchObject({ statusCode: 403, body: 'status 403' });
});

test('routes count their bans separately, except routes of one group', async () => {
  await app.register(rateLimit, { global: false, max: 1, timeWindow: '1h', ban: 1 });
  for (const url of ['/a', '/b']) app.get(url, { config: { rateLimit: { max: 1 } } }, ok);
  for (const url of ['/c', '/d']) app.get(url, { config: { rateLimit: { groupId: 'g' } } }, ok);
  const statuses = async (...urls: string[]) => {
    const all = [];
    for (const url of urls) all.push((await app.inject(url)).statusCode);
    return all;
  };
  expect(await statuses('/a', '/a', '/b', '/b')).toEqual([200, 429, 200, 429]);
  expect(await statuses('/c', '/c', '/d')).toEqual([200, 429, 403]);
});

test('errorResponseBuilder returns the error or object to throw', async () => {
  const contexts: unknown[] = [];
  const thrown = [
    Object.assign(new Error('slow down'), { statusCode: 429 }),
    { statusCode: 420, mine: true },
  ];
  await serve({
    policy: fixedWindow({ limit: 1, window: '90s' }),
    ban: 2,
    errorResponseBuilder: (request, context) => {
      expect(request.rateLimit).toMatchObject({ allowed: false });
      contexts.push(context);
      return thrown.shift() as object;
    },
  });
  await get();
  const error = await app.inject('/');
  expect([error.statusCode, error.json().message]).toEqual([429, 'slow down']);
  expect(error.headers).toHaveProperty('retry-after');
  const object = await app.inject('/');
  expect([object.statusCode, object.json()]).toEqual([420, { statusCode: 420, mine: true }]);
  expect(await get()).toMatchObject({ statusCode: 500 });
  expect(contexts).toEqual([
    { statusCode: 429, ban: false, max: 1, ttl: expect.any(Number), after: '2 minutes' },
    { statusCode: 429, ban: false, max: 1, ttl: expect.any(Number), after: '2 minutes' },
    { statusCode: 403, ban: true, max: 1, ttl: expect.any(Number), after: '2 minutes' },
  ]);
});

test.each([() => {}, async () => {}])(
  'if the handler sends nothing, the default response is sent',
  async (handler) => {
    await serve({ handler });
    await get();
    expect(await get()).toMatchObject({ statusCode: 429, type: 'application/problem+json' });
  },
);

test.each(['plugin', 'hook'])('a handler of a %s that returns reply can respond later', async (form) => {
  const handler = (_request: unknown, reply: FastifyReply) => {
    setTimeout(() => reply.send('later'), 5);
    return reply;
  };
  const served = jest.fn(ok);
  await app.register(rateLimit, form === 'plugin' ? { policy: hourly(1), handler } : {});
  const onRequest = form === 'hook' ? app.rateLimit({ policy: hourly(1), handler }) : [];
  app.get('/', { onRequest }, served);
  await get();
  expect(await get()).toMatchObject({ statusCode: 429, body: 'later' });
  expect(served).toHaveBeenCalledTimes(1);
});

test('an asynchronous onSend hook can change a denial', async () => {
  await app.register(rateLimit);
  app.addHook('onSend', async (_request, _reply, payload) => {
    await new Promise((resolve) => setTimeout(resolve, 5));
    return `${payload}!`;
  });
  const served = jest.fn(ok);
  app.get('/', { preHandler: app.rateLimit({ policy: hourly(1), message: 'wait' }) }, served);
  expect(await get()).toMatchObject({ statusCode: 200, body: 'ok!' });
  expect(await get()).toMatchObject({ statusCode: 429, body: 'wait!' });
  expect(served).toHaveBeenCalledTimes(1);
});

test('requestWasSuccessful receives the reply', async () => {
  await app.register(rateLimit, {
    policy: hourly(1),
    skipSuccessfulRequests: true,
    requestWasSuccessful: (_request, reply) => reply.getHeader('x-counts') === undefined,
  });
  app.get('/free', ok);
  app.get('/counts', async (_request, reply) => reply.header('x-counts', 'yes').send('ok'));
  const statuses = [];
  for (const url of ['/free', '/free', '/counts', '/free']) statuses.push((await app.inject(url)).statusCode);
  expect(statuses).toEqual([200, 200, 200, 429]);
});

test('a limit by user can be registered before the hooks that authenticate', async () => {
  app.decorateRequest('user', null);
  await app.register(rateLimit, { policy: hourly(1), limitType: 'USER', hook: 'preHandler' });
  app.addHook('preHandler', async (request) => {
    Object.assign(request, { user: request.headers['x-user'] });
  });
  app.get('/', ok);
  const statusFor = async (user: string) =>
    (await app.inject({ url: '/', headers: { 'x-user': user } })).statusCode;
  expect([await statusFor('ann'), await statusFor('bob'), await statusFor('ann')]).toEqual([200, 200, 429]);
});

test.each<[object, string]>([
  [{ max: 1, ban: -1 }, 'ban must be a whole number from 0'],
  [{ max: 1, ban: 1, throw: true }, 'ban has no effect with throw'],
  [{ max: 1, onExceeded: () => {}, throw: true }, 'onExceeded has no effect with throw: use onLimited'],
  [{ max: 1, onBanReach: () => {} }, 'onBanReach has no effect without ban'],
  [{ max: 1, ban: 1, dryRun: true, onLimited: () => {} }, 'ban has no effect with dryRun'],
  [{ max: 1, errorResponseBuilder: 'x' }, 'errorResponseBuilder must be a function, not "x"'],
  [
    { max: 1, errorResponseBuilder: () => ({}), message: 'x' },
    'message has no effect with errorResponseBuilder',
  ],
  [
    { max: 1, handler: () => {}, errorResponseBuilder: () => ({}) },
    'errorResponseBuilder has no effect with handler',
  ],
])('rejects the options %j', async (options, message) => {
  await expect(app.register(rateLimit, options)).rejects.toThrow(message);
  app = fastify();
});
