import { concurrency, fixedWindow, memoryStore } from '@sluice/core';
import fastify, { type FastifyInstance } from 'fastify';
import { rateLimit } from './index.js';

const hourly = (limit: number) => fixedWindow({ limit, window: '1h' });
const ok = async () => 'ok';

let app: FastifyInstance;
beforeEach(() => {
  app = fastify();
});
afterEach(() => app.close());

const status = async (url: string, method: 'GET' | 'HEAD' | 'POST' = 'GET', payload?: object) =>
  (await app.inject({ url, method, ...(payload !== undefined && { payload }) })).statusCode;
const statuses = async (...urls: string[]) => {
  const all = [];
  for (const url of urls) all.push(await status(url));
  return all;
};

describe('config.rateLimit', () => {
  test('as an object is the limit of its route, instead of the limit of the plugin', async () => {
    await app.register(rateLimit, { name: 'all', policy: hourly(1) });
    app.get('/own', { config: { rateLimit: { policy: hourly(2) } } }, ok);
    app.get('/common', ok);
    expect(await statuses('/own', '/own', '/own')).toEqual([200, 200, 429]);
    expect(await statuses('/common', '/common')).toEqual([200, 429]);
    const { headers } = await app.inject('/own');
    expect(headers.ratelimit).toMatch(/^"GET:\/own";r=0;t=\d+$/);
  });

  test('as false exempts its route', async () => {
    await app.register(rateLimit, { policy: hourly(1) });
    app.get('/free', { config: { rateLimit: false } }, ok);
    expect(await statuses('/free', '/free', '/free')).toEqual([200, 200, 200]);
    expect((await app.inject('/free')).headers).not.toHaveProperty('ratelimit');
  });

  test('as an empty object is the limit of the plugin, and counts with the other routes', async () => {
    await app.register(rateLimit, { policy: hourly(2) });
    app.get('/a', { config: { rateLimit: {} } }, ok);
    app.get('/b', ok);
    expect(await statuses('/a', '/b', '/a', '/b')).toEqual([200, 200, 429, 429]);
  });

  test("with global: false limits only its routes, with the plugin's options", async () => {
    await app.register(rateLimit, { global: false, policy: hourly(1), statusCode: 420 });
    app.get('/free', ok);
    app.get('/limited', { config: { rateLimit: {} } }, ok);
    app.get('/more', { config: { rateLimit: { policy: hourly(2) } } }, ok);
    expect(await statuses('/free', '/free')).toEqual([200, 200]);
    expect(await statuses('/limited', '/limited')).toEqual([200, 420]);
    expect(await statuses('/more', '/more', '/more')).toEqual([200, 200, 420]);
  });

  test('with global: false, the plugin needs no policy, but each limited route does', async () => {
    await app.register(rateLimit, { global: false, limitType: 'METHOD' });
    app.get('/own', { config: { rateLimit: { max: 1, timeWindow: '1h' } } }, ok);
    expect(() => app.get('/none', { config: { rateLimit: {} } }, ok)).toThrow('rateLimit needs a policy');
    expect(await statuses('/own', '/own')).toEqual([200, 429]);
  });

  test('counts each route separately, and routes of one group together', async () => {
    await app.register(rateLimit, { global: false });
    for (const url of ['/a', '/b']) app.get(url, { config: { rateLimit: { max: 1 } } }, ok);
    for (const url of ['/c', '/d']) app.get(url, { config: { rateLimit: { max: 2, groupId: 'cd' } } }, ok);
    expect(await statuses('/a', '/b', '/a', '/b')).toEqual([200, 200, 429, 429]);
    expect(await statuses('/c', '/d', '/c', '/d')).toEqual([200, 200, 429, 429]);
  });

  test('counts HEAD with the GET that Fastify derives it from', async () => {
    await app.register(rateLimit, { global: false });
    app.get('/a', { config: { rateLimit: { max: 2 } } }, ok);
    expect(await status('/a')).toBe(200);
    expect(await status('/a', 'HEAD')).toBe(200);
    expect(await status('/a', 'HEAD')).toBe(429);
    expect(await status('/a')).toBe(429);
  });

  test('inherits store, key and response options from the plugin', async () => {
    const store = memoryStore();
    await app.register(rateLimit, {
      global: false,
      name: 'api',
      store,
      key: "#{headers['x-key']}",
      message: 'slow',
      legacyHeaders: true,
    });
    app.get('/a', { config: { rateLimit: { max: 1 } } }, ok);
    const get = (key: string) => app.inject({ url: '/a', headers: { 'x-key': key } });
    expect([(await get('ann')).statusCode, (await get('bob')).statusCode]).toEqual([200, 200]);
    const denied = await get('ann');
    expect([denied.statusCode, denied.body]).toEqual([429, 'slow']);
    expect(denied.headers).toHaveProperty('x-ratelimit-limit', '1');
    await store.close();
  });

  test("ignores the plugin's prefetch if its policy does not support it, and refuses its own", async () => {
    const held = concurrency({ limit: 10 });
    await app.register(rateLimit, { global: false, prefetch: { most: 10 } });
    app.get('/held', { config: { rateLimit: { policy: held } } }, ok);
    const own = { config: { rateLimit: { policy: held, prefetch: { most: 10 } } } };
    expect(() => app.get('/own', own, ok)).toThrow(/prefetch is for fixedWindow/);
    expect(await status('/held')).toBe(200);
  });

  test('with its own key replaces the key of the plugin', async () => {
    await app.register(rateLimit, { policy: hourly(1), limitType: 'USER' });
    app.get('/a', { config: { rateLimit: { limitType: 'METHOD' } } }, ok);
    expect(await statuses('/a', '/a')).toEqual([200, 429]);
  });

  test.each<[object, string | RegExp]>([
    [{ hook: 'onSend', max: 1 }, 'hook must be one of'],
    [{ max: -1 }, /limit must be .* not -1/],
    [{ max: 1, timeWindow: 'soon' }, '"soon"'],
    [{ polcy: 1 }, "no option 'polcy'"],
    [{ max: 1, name: 'a', groupId: 'b' }, 'pass name or groupId, not both'],
  ])('rejects %j when the route is added', async (own, message) => {
    await app.register(rateLimit, { global: false });
    expect(() => app.get('/', { config: { rateLimit: own as never } }, ok)).toThrow(message);
  });
});

test("hook: 'preHandler' lets the key of a route read the body", async () => {
  await app.register(rateLimit, { global: false });
  app.post('/', { config: { rateLimit: { max: 1, key: '#{body.phone}', hook: 'preHandler' } } }, ok);
  expect(await status('/', 'POST', { phone: '1' })).toBe(200);
  expect(await status('/', 'POST', { phone: '2' })).toBe(200);
  expect(await status('/', 'POST', { phone: '1' })).toBe(429);
  expect(await status('/', 'POST', {})).toBe(400);
});

test.each(['onRequest', 'preParsing', 'preValidation', 'preHandler'] as const)(
  'at %s, a limit runs after the hooks of the route and later hooks of its scope',
  async (hook) => {
    const order: string[] = [];
    const own = async () => void order.push('own');
    const keyGenerator = () => {
      order.push('limit');
      return 'all';
    };
    await app.register(rateLimit, { global: false, keyGenerator });
    app.addHook(hook as 'onRequest', async () => void order.push('scope'));
    app.get('/', { config: { rateLimit: { max: 1, hook } }, [hook]: own }, ok);
    expect(await statuses('/', '/')).toEqual([200, 429]);
    expect(order).toEqual(['scope', 'own', 'limit', 'scope', 'own', 'limit']);
  },
);
