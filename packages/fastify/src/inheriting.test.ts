import { fixedWindow, memoryStore, RateLimiter, redisStore } from '@sluice/core';
import fastify, { type FastifyInstance } from 'fastify';
import { type RateLimitOptions, type RateLimitPluginOptions, rateLimit } from './index.js';

const hourly = (limit: number) => fixedWindow({ limit, window: '1h' });
const ok = async () => 'ok';

const open: FastifyInstance[] = [];
afterEach(async () => {
  for (const app of open.splice(0)) await app.close();
});

/** One process: an app with a plugin of these options, and its routes. */
async function build(options: RateLimitPluginOptions | undefined, routes: (app: FastifyInstance) => void) {
  const app = fastify();
  open.push(app);
  await app.register(rateLimit, options ?? {});
  routes(app);
  return {
    app,
    statuses: async (...urls: string[]) => {
      const all = [];
      for (const url of urls) all.push((await app.inject(url)).statusCode);
      return all;
    },
  };
}

describe('two processes with one store share each form of a limit', () => {
  const own: RateLimitOptions = { name: 'mine', policy: hourly(2) };
  const forms: [string, (app: FastifyInstance) => void][] = [
    ['app.rateLimit(options)', (app) => app.get('/', { onRequest: app.rateLimit(own) }, ok)],
    ['app.rateLimit()', (app) => app.get('/', { onRequest: app.rateLimit() }, ok)],
    ['config.rateLimit', (app) => app.get('/', { config: { rateLimit: { policy: hourly(2) } } }, ok)],
    ['config.rateLimit without options', (app) => app.get('/', { config: { rateLimit: {} } }, ok)],
    ['groupId', (app) => app.get('/', { config: { rateLimit: { groupId: 'g', policy: hourly(2) } } }, ok)],
    [
      'app.createRateLimit(options)',
      (app) => {
        const check = app.createRateLimit(own);
        app.get('/', async (request, reply) => {
          const result = await check(request);
          if (!result.isAllowed && result.isExceeded) reply.code(429);
          return 'ok';
        });
      },
    ],
    [
      'a scope inside',
      (app) =>
        void app.register(async (scope) => void scope.get('/', { onRequest: scope.rateLimit(own) }, ok)),
    ],
  ];

  test.each(forms)('%s', async (_, routes) => {
    const store = memoryStore();
    const options = { name: 'all', policy: hourly(2), store, global: false };
    const one = await build(options, routes);
    const other = await build(options, routes);
    expect(await one.statuses('/')).toEqual([200]);
    expect(await other.statuses('/', '/')).toEqual([200, 429]);
    expect(await one.statuses('/')).toEqual([429]);
    await store.close();
  });
});

test('a hook inherits keyPrefix, keys, lists and response options, unless it sets them', async () => {
  const store = memoryStore();
  const plugin: RateLimitPluginOptions = {
    global: false,
    store,
    keyPrefix: 'shop',
    keyGenerator: ({ headers }) => String(headers['x-user']),
    skip: ({ headers }) => headers['x-skip'] === 'yes',
    message: { slow: 'down' },
    statusCode: 420,
  };
  const { app } = await build(plugin, (server) => {
    server.get('/a', { onRequest: server.rateLimit({ name: 'a', max: 1, timeWindow: '1h' }) }, ok);
    const key = { name: 'b', max: 1, limitType: 'METHOD', message: 'own' } as const;
    server.get('/b', { onRequest: server.rateLimit(key) }, ok);
  });
  const responseOf = async (url: string, headers = {}) => {
    const { statusCode, body } = await app.inject({ url, headers: { 'x-user': 'ann', ...headers } });
    return [statusCode, body];
  };
  expect(await responseOf('/a')).toEqual([200, 'ok']);
  expect(await responseOf('/a')).toEqual([420, '{"slow":"down"}']);
  expect(await responseOf('/a', { 'x-user': 'bob' })).toEqual([200, 'ok']);
  expect(await responseOf('/a', { 'x-skip': 'yes' })).toEqual([200, 'ok']);
  expect(await responseOf('/b')).toEqual([200, 'ok']);
  expect(await responseOf('/b', { 'x-user': 'bob' })).toEqual([420, 'own']);
  const same = new RateLimiter({
    name: 'a',
    policy: fixedWindow({ limit: 1, window: '1h' }),
    store,
    keyPrefix: 'shop',
  });
  expect(await same.peek('ann')).toMatchObject({ remaining: 0 });
  await store.close();
});

test.each<[string, (app: FastifyInstance, own: RateLimitOptions) => unknown]>([
  ['app.rateLimit', (app, own) => app.get('/', { onRequest: app.rateLimit({ name: 'mine', ...own }) }, ok)],
  ['config.rateLimit', (app, own) => app.get('/', { config: { rateLimit: own } }, ok)],
])('%s: an undefined option is inherited', async (_, route) => {
  const store = memoryStore();
  const undefineds = { store: undefined, keyPrefix: undefined, statusCode: undefined, max: undefined };
  const plugin = { global: false, name: 'all', store, statusCode: 420, max: 1, timeWindow: '1h' } as const;
  const one = await build(plugin, (app) => void route(app, undefineds));
  const other = await build(plugin, (app) => void route(app, undefineds));
  expect([await one.statuses('/'), await other.statuses('/')]).toEqual([[200], [420]]);
  await store.close();
});

test('a hook inherits the failure policy, unless it sets one', async () => {
  const store = redisStore('redis://127.0.0.1:1');
  const { statuses } = await build({ global: false, store, failurePolicy: 'deny' }, (app) => {
    app.get('/', { onRequest: app.rateLimit({ name: 'a', max: 9 }) }, ok);
    app.get('/open', { onRequest: app.rateLimit({ name: 'b', max: 9, failurePolicy: 'allow' }) }, ok);
  });
  expect(await statuses('/', '/open')).toEqual([503, 200]);
  await store.close();
});

test('a hook inherits from the nearest registration, but its own limiter keeps its store', async () => {
  const mine = new RateLimiter({ name: 'mine', policy: hourly(1) });
  const { statuses } = await build({ global: false, max: 1, statusCode: 420 }, (app) => {
    app.get('/outer', { onRequest: app.rateLimit({ max: 1 }) }, ok);
    app.get('/limiter', { onRequest: app.rateLimit({ limiter: mine }) }, ok);
    app.register(async (scope) => {
      await scope.register(rateLimit, { global: false, max: 2, statusCode: 430 });
      scope.get('/inner', { onRequest: scope.rateLimit() }, ok);
    });
  });
  expect(await statuses('/outer', '/outer')).toEqual([200, 420]);
  expect(await statuses('/inner', '/inner', '/inner')).toEqual([200, 200, 430]);
  expect(await statuses('/limiter', '/limiter')).toEqual([200, 420]);
  await mine.close();
});

test.each(['rateLimit', 'createRateLimit'] as const)(
  "app.%s in the plugin's store needs a name of its own, because limits would share counts",
  async (form) => {
    const store = memoryStore();
    const { app } = await build({ global: false, store }, () => {});
    expect(() => app[form]({ max: 1 })).toThrow(
      `app.${form}: a limit in the plugin's store needs its own name, such as app.${form}({ name: 'login', … })`,
    );
    expect(() => app[form]({ max: 1, groupId: 'search' })).not.toThrow();
    expect(() => app[form]()).toThrow('needs its own name');
    await store.close();
  },
);

test.each([null, 5, 'login', [], () => {}])('app.rateLimit(%j) is refused', async (own) => {
  const { app } = await build({ max: 1 }, () => {});
  expect(() => app.rateLimit(own as never)).toThrow('app.rateLimit takes an options object');
  expect(() => app.createRateLimit(own as never)).toThrow('app.createRateLimit takes an options object');
});

test('app.rateLimit() throws if the plugin has no limit to inherit', async () => {
  const { app } = await build(undefined, () => {});
  expect(() => app.rateLimit()).toThrow('rateLimit needs a policy');
});

test('the limit of the plugin counts a request once, however often it is used', async () => {
  const { app, statuses } = await build({ policy: hourly(2) }, (server) => {
    server.get('/', { preHandler: server.rateLimit() }, ok);
    server.get(
      '/own',
      { config: { rateLimit: {} }, preHandler: [server.rateLimit(), server.rateLimit()] },
      ok,
    );
    server.setNotFoundHandler({ preHandler: server.rateLimit() }, async (_request, reply) =>
      reply.code(404).send(),
    );
  });
  expect(await statuses('/', '/own', '/none', '/')).toEqual([200, 200, 429, 429]);
  expect((await app.inject('/')).headers.ratelimit).toMatch(/^"default";r=0;t=\d+$/);
});

describe('a not-found handler with its own limit', () => {
  const notFound: Parameters<FastifyInstance['setNotFoundHandler']>[1] = (_request, reply) =>
    void reply.code(404).send('nothing here');

  test.each([
    ['looser', 4, [404, 404, 404, 404, 429]],
    ['tighter', 1, [404, 429, 429, 429, 429]],
  ])("that is %s than the plugin's is limited by its own only", async (_, max, expected) => {
    const { app, statuses } = await build({ max: 2 }, (server) => {
      server.get('/', ok);
      server.setNotFoundHandler({ preHandler: [server.rateLimit({ max })] }, notFound);
    });
    expect(await statuses('/', '/a', '/b', '/c', '/d', '/e', '/', '/')).toEqual([200, ...expected, 200, 429]);
    const denied = await app.inject('/none');
    expect(denied.headers['ratelimit-policy']).toBe(`"default";q=${max};w=60`);
  });

  test("replaces the plugin's limit in its scope only, and keeps the handler's config", async () => {
    const config = { owner: 'admin' };
    const { app, statuses } = await build({ max: 2 }, (server) => {
      server.setNotFoundHandler(notFound);
      server.register(
        async (inner) => {
          const options = { preValidation: inner.rateLimit({ max: 3 }), config };
          inner.setNotFoundHandler(
            options,
            (request, reply) => void reply.code(404).send(request.routeOptions.config),
          );
        },
        { prefix: '/admin' },
      );
    });
    expect(await statuses('/a', '/b', '/c')).toEqual([404, 404, 429]);
    expect((await app.inject('/admin/a')).json()).toEqual(config);
    expect(await statuses('/admin/b', '/admin/c', '/admin/d')).toEqual([404, 404, 429]);
    expect(config).toEqual({ owner: 'admin' });
  });
});
