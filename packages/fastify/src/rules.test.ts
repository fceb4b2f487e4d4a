import { ManualClock, memoryStore } from '@sluice/core';
import { Rules } from '@sluice/rules';
import fastify, { type FastifyInstance } from 'fastify';
import { rateLimit } from './index.js';

const document = (limit: number) => `
rules:
  - name: api
    match: { path: /v1/* }
    key: '#{headers.x-user}'
    limit: { fixedWindow: { limit: ${limit}, window: 1h } }
    reply: { status: 420, headers: { x-help: /limits } }
`;

let app: FastifyInstance;
let opened: Rules[] = [];
beforeEach(() => {
  app = fastify();
});
afterEach(async () => {
  await app.close();
  for (const rules of opened) await rules.close();
  opened = [];
});

function rulesOf(limit = 1): Rules {
  const rules = new Rules(document(limit), { store: memoryStore({ clock: new ManualClock() }) });
  opened.push(rules);
  return rules;
}
const statuses = async (url: string, times: number) => {
  const all = [];
  for (let i = 0; i < times; i += 1)
    all.push((await app.inject({ url, headers: { 'x-user': 'ann' } })).statusCode);
  return all;
};
const ok = async () => 'ok';

test('a route of a plugin with rules has its own limit, other rules, or another answer', async () => {
  const rules = rulesOf();
  await app.register(rateLimit, { rules });
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
  await app.register(rateLimit, { global: false });
  app.get('/v1/hook', { onRequest: app.rateLimit({ rules: rulesOf() }) }, ok);
  const check = app.createRateLimit({ rules: rulesOf() });
  app.get('/v1/check', (request) => check(request));
  app.get('/free', (request) => check(request, { increment: false }));
  expect(await statuses('/v1/hook', 2)).toEqual([200, 420]);
  const checked = async (url: string) => (await app.inject({ url, headers: { 'x-user': 'ann' } })).json();
  expect(await checked('/v1/check')).toMatchObject({ isAllowed: false, isExceeded: false, max: 1 });
  expect(await checked('/v1/check')).toMatchObject({ isExceeded: true });
  expect(await checked('/free')).toEqual({ isAllowed: true, key: '' });
});

test('an option that has no effect with rules is refused where it is given', async () => {
  const register = (options: object) => fastify().register(rateLimit, { rules: rulesOf(), ...options });
  await expect(register({ ban: 1 })).rejects.toThrow('ban has no effect with rules');
  await expect(register({ groupId: 'a' })).rejects.toThrow('name has no effect with rules');
  await app.register(rateLimit, { rules: rulesOf() });
  const own = { config: { rateLimit: { key: '#{ip}' } } };
  expect(() => app.get('/', own, ok)).toThrow('key has no effect with rules: each rule has its own');
});
