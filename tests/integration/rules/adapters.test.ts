import fastify, { type FastifyInstance } from 'fastify';
import { fixedWindow, ManualClock, memoryStore } from '../../../packages/core/src/index.js';
import { rateLimit as rateLimitExpress } from '../../../packages/express/src/index.js';
import { rateLimit as fastifyPlugin } from '../../../packages/fastify/src/index.js';
import { rateLimit as rateLimitFetch } from '../../../packages/fetch/src/index.js';
import { rateLimit as rateLimitKoa } from '../../../packages/koa/src/index.js';
import { Rules } from '../../../packages/rules/src/index.js';

const document = (limit: number) => `
rules:
  - name: api
    match: { path: /v1/* }
    key: '#{headers.x-user}'
    limit: { fixedWindow: { limit: ${limit}, window: 1h } }
    reply: { status: 420, headers: { x-help: /limits } }
`;

let open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.reverse()) await one.close();
  open = [];
});
function rulesOf(limit = 1): Rules {
  const store = memoryStore({ clock: new ManualClock() });
  const rules = new Rules(document(limit), { store });
  open.push(store, rules);
  return rules;
}

test('fetch: passes, headers and a reply of the rule', async () => {
  const limit = rateLimitFetch({ rules: rulesOf() });
  const ask = async (path: string, user = 'ann') => {
    const request = new Request(`http://localhost${path}`, { headers: { 'x-user': user } });
    return (await limit(request)) ?? limit.complete(request, new Response('ok'));
  };
  const passed = await ask('/v1/a');
  expect([passed.status, passed.headers.get('RateLimit')]).toEqual([200, '"rules.api";r=0;t=3600']);
  const denied = await ask('/v1/a');
  expect([denied.status, denied.headers.get('x-help')]).toEqual([420, '/limits']);
  expect(await denied.json()).toMatchObject({ status: 420, 'violated-policies': ['rules.api'] });
  expect((await ask('/v1/a', 'bob')).status).toBe(200);
  expect((await ask('/free')).headers.get('RateLimit')).toBeNull();
});

describe('fastify', () => {
  let app: FastifyInstance;
  beforeEach(() => {
    app = fastify();
    open.push(app);
  });
  const statuses = async (url: string, times: number) => {
    const all = [];
    for (let i = 0; i < times; i += 1)
      all.push((await app.inject({ url, headers: { 'x-user': 'ann' } })).statusCode);
    return all;
  };
  const ok = async () => 'ok';

  test('a route of a plugin with rules has its own limit, other rules, or another answer', async () => {
    const rules = rulesOf();
    await app.register(fastifyPlugin, { rules });
    app.get('/v1/common', ok);
    app.get('/v1/own', { config: { rateLimit: { max: 2, timeWindow: '1h' } } }, ok);
    app.get('/v1/other', { config: { rateLimit: { rules: rulesOf(3) } } }, ok);
    app.get('/v1/free', { config: { rateLimit: false } }, ok);
    const handler = (_request: unknown, _reply: unknown, { name }: { name: string }) => name;
    app.get('/v1/answer', { config: { rateLimit: { handler } } }, ok);
    expect(await statuses('/v1/own', 3)).toEqual([200, 200, 429]);
    expect(await statuses('/v1/other', 4)).toEqual([200, 200, 200, 420]);
    expect(await statuses('/v1/free', 3)).toEqual([200, 200, 200]);
    expect(await statuses('/v1/common', 2)).toEqual([200, 420]);
    const { statusCode, body } = await app.inject({ url: '/v1/answer', headers: { 'x-user': 'ann' } });
    expect([statusCode, body]).toEqual([420, 'rules']);
  });

  test('a hook and a check count by rules', async () => {
    await app.register(fastifyPlugin, { global: false });
    app.get('/v1/hook', { onRequest: app.rateLimit({ rules: rulesOf() }) }, ok);
    const check = app.createRateLimit({ rules: rulesOf() });
    app.get('/v1/check', (request) => check(request));
    app.get('/free', (request) => check(request, { increment: false }));
    expect(await statuses('/v1/hook', 2)).toEqual([200, 420]);
    const ask = async (url: string) => (await app.inject({ url, headers: { 'x-user': 'ann' } })).json();
    expect(await ask('/v1/check')).toMatchObject({ isAllowed: false, isExceeded: false, max: 1 });
    expect(await ask('/v1/check')).toMatchObject({ isExceeded: true });
    expect(await ask('/free')).toEqual({ isAllowed: true, key: '' });
  });

  test('an option that has no effect with rules is refused where it is given', async () => {
    const register = (options: object) => fastify().register(fastifyPlugin, { rules: rulesOf(), ...options });
    await expect(register({ max: 1 })).rejects.toThrow('rateLimit: pass max or rules, not both');
    await expect(register({ ban: 1 })).rejects.toThrow('ban has no effect with rules');
    await expect(register({ groupId: 'a' })).rejects.toThrow('name has no effect with rules');
    await app.register(fastifyPlugin, { rules: rulesOf() });
    const own = { config: { rateLimit: { key: '#{ip}' } } };
    expect(() => app.get('/', own, ok)).toThrow('key has no effect with rules: each rule has its own');
  });
});

test.each<[string, object, string]>([
  ['express', { limit: 5 }, 'pass limit or rules, not both'],
  ['express', { identifier: () => 'api' }, 'identifier has no effect with rules'],
  ['koa', { max: 5 }, 'pass max or rules, not both'],
  ['koa', { policy: fixedWindow({ limit: 1, window: '1m' }) }, 'pass rules or policy, not both'],
  ['fetch', { keyPrefix: 'a' }, 'keyPrefix has no effect with rules'],
])('%s refuses %j beside rules', (adapter, options, message) => {
  const limits = { express: rateLimitExpress, koa: rateLimitKoa, fetch: rateLimitFetch };
  const limit = limits[adapter as 'express'];
  expect(() => limit({ rules: rulesOf(), ...options } as never)).toThrow(message);
});
