import { fixedWindow, RateLimiter } from '@sluice/core';
import fastify, { type FastifyInstance } from 'fastify';
import { type RateLimitPluginOptions, rateLimit } from './index.js';

const hourly = (limit: number) => fixedWindow({ limit, window: '1h' });
const ok = async () => 'ok';

let app: FastifyInstance;
beforeEach(() => {
  app = fastify();
});
afterEach(() => app.close());

const statuses = async (...urls: string[]) => {
  const all = [];
  for (const url of urls) all.push((await app.inject(url)).statusCode);
  return all;
};

test('a request without a route is limited, and counts with the others', async () => {
  await app.register(rateLimit, { policy: hourly(3) });
  app.get('/', ok);
  expect(await statuses('/none', '/', '/other', '/none', '/')).toEqual([404, 200, 404, 429, 429]);
});

test('a request without a route is limited also with a not-found handler', async () => {
  await app.register(rateLimit, { policy: hourly(1) });
  app.setNotFoundHandler(async (request) => `${request.url} is not here`);
  expect(await statuses('/none', '/none')).toEqual([200, 429]);
});

test("a scope's limit applies as well as the server's; its siblings have only the server's", async () => {
  await app.register(rateLimit, { name: 'all', policy: hourly(4) });
  await app.register(
    async (scope) => {
      await scope.register(rateLimit, { name: 'inner', policy: hourly(1) });
      scope.get('/x', ok);
    },
    { prefix: '/inner' },
  );
  await app.register(async (scope) => void scope.get('/x', ok), { prefix: '/sibling' });
  const first = await app.inject('/inner/x');
  expect(first.headers.ratelimit).toMatch(/^"all";r=3;t=\d+, "inner";r=0;t=\d+$/);
  expect(await statuses('/inner/x', '/sibling/x', '/sibling/x', '/sibling/x')).toEqual([429, 200, 200, 429]);
});

test('routes of a scope inherit from the nearest registration', async () => {
  await app.register(rateLimit, { global: false, max: 1, statusCode: 420 });
  await app.register(async (scope) => {
    await scope.register(rateLimit, { global: false, max: 2, statusCode: 430 });
    scope.get('/inner', { config: { rateLimit: {} } }, ok);
  });
  app.get('/outer', { config: { rateLimit: {} } }, ok);
  expect(await statuses('/outer', '/outer')).toEqual([200, 420]);
  expect(await statuses('/inner', '/inner', '/inner')).toEqual([200, 200, 430]);
});

test('a plugin registered twice in one scope applies both limits', async () => {
  await app.register(rateLimit, { name: 'wide', policy: hourly(9) });
  await app.register(rateLimit, { name: 'tight', policy: hourly(1) });
  await app.register(rateLimit);
  app.get('/', ok);
  const { headers } = await app.inject('/');
  expect(headers.ratelimit).toMatch(/^"wide";r=8;t=\d+, "tight";r=0;t=\d+$/);
  expect(await statuses('/')).toEqual([429]);
});

test('a limited route added before the plugin responds 500 instead of being unlimited', async () => {
  app.get('/early', { config: { rateLimit: { max: 1 } } }, ok);
  app.get('/free', { config: { rateLimit: false } }, ok);
  await app.register(rateLimit, { global: false });
  app.get('/late', { config: { rateLimit: { max: 1 } } }, ok);
  const { statusCode, body } = await app.inject('/early');
  expect(statusCode).toBe(500);
  expect(JSON.parse(body).message).toContain(
    'the route GET /early was added before the plugin was registered',
  );
  expect(await statuses('/free', '/late', '/late')).toEqual([200, 200, 429]);
});

test('the limit of the plugin also applies to earlier routes of its scope', async () => {
  app.get('/early', ok);
  await app.register(rateLimit, { policy: hourly(1) });
  expect(await statuses('/early', '/early')).toEqual([200, 429]);
});

test.each<[object, string]>([
  [{ global: true, statusCode: 420 }, 'rateLimit needs a policy'],
  [{ global: 'no', max: 1 }, 'global'],
  [{ hook: 'onResponse', max: 1 }, 'hook must be one of'],
  [{ max: 1, policy: hourly(1) }, 'pass max or policy, not both'],
  [{ timeWindow: '1m' }, 'timeWindow needs max'],
  [{ max: 1, handler: 5 }, 'handler must be a function, not 5'],
  [{ global: false, nmae: 'x' }, "no option 'nmae'"],
])('rejects the options %j', async (options, message) => {
  await expect(app.register(rateLimit, options as RateLimitPluginOptions)).rejects.toThrow(message);
  app = fastify();
});

test('server close closes the limiters of all routes and ends waiting calls', async () => {
  const close = jest.spyOn(RateLimiter.prototype, 'close');
  await app.register(rateLimit, { max: 1, timeWindow: '1h', timeout: '1d' });
  app.get('/own', { config: { rateLimit: { max: 1, timeWindow: '1h', timeout: '1d' } } }, ok);
  app.get('/hook', { onRequest: app.rateLimit({ max: 5 }) }, ok);
  expect(await statuses('/own')).toEqual([200]);
  const waiting = app.inject('/own');
  await new Promise(setImmediate);
  await app.close();
  expect((await waiting).statusCode).toBe(503);
  expect(close).toHaveBeenCalledTimes(3);
  close.mockRestore();
});

test("Fastify's types include the limit", async () => {
  await app.register(rateLimit, { global: false });
  const onRequest = app.rateLimit({ max: ({ headers }) => (headers['x-vip'] === undefined ? 1 : 2) });
  app.get(
    '/',
    { onRequest, config: { rateLimit: { max: 5, timeWindow: '1m', hook: 'preHandler' } } },
    (request) => ({
      left: request.rateLimit?.remaining satisfies number | undefined,
    }),
  );
  // @ts-expect-error a limit is a number or a function
  expect(() => app.rateLimit({ max: '5' })).toThrow('not "5"');
  // @ts-expect-error there is no such option
  expect(() => app.rateLimit({ max: 5, cache: 3 })).toThrow("no option 'cache'");
  expect((await app.inject('/')).json()).toEqual({ left: 4 });
});

test('a handler responds by reply or return value; an error that it throws fails the request', async () => {
  await app.register(rateLimit);
  const { rateLimit: limit } = app;
  const fails = () => Promise.reject(Object.assign(new Error('mine'), { statusCode: 418 }));
  app.get('/returns', { onRequest: limit({ max: 1, handler: async (_r, _p, { name }) => ({ name }) }) }, ok);
  app.get(
    '/sends',
    { onRequest: limit({ max: 1, handler: (_r, reply) => reply.code(420).send('sent') }) },
    ok,
  );
  app.get('/fails', { onRequest: limit({ max: 1, handler: fails }) }, ok);
  await statuses('/returns', '/sends', '/fails');
  const returned = await app.inject('/returns');
  expect([returned.statusCode, returned.json()]).toEqual([429, { name: 'default' }]);
  const sent = await app.inject('/sends');
  expect([sent.statusCode, sent.body]).toEqual([420, 'sent']);
  expect((await app.inject('/fails')).statusCode).toBe(418);
});

test.each([
  [{ max: 1, redis: {} }, "rateLimit has no option 'redis': pass store: redisStore(redis), and a name"],
  [
    { max: 1, exponentialBackoff: true },
    "'exponentialBackoff': pass escalate: { after: 1, within: '1m', block: ['1m', '2m', '4m'] }",
  ],
  [{ max: 1, skipOnError: true }, "'skipOnError': pass failurePolicy: 'allow' for true, 'deny' for false"],
  [{ limit: 1, windowMs: 1000 }, "rateLimit has no option 'limit': pass max"],
  [{ points: 1 }, "rateLimit has no option 'points': numbers belong to a policy"],
])(
  'an option of another package is refused, and the error names the one to use: %j',
  async (options, message) => {
    await expect(app.register(rateLimit, options as RateLimitPluginOptions)).rejects.toThrow(message);
    expect(() => app.rateLimit(options as RateLimitPluginOptions)).toThrow();
  },
);
