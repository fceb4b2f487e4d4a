import { readUsage } from '@sluice/fleet';
import express from 'express';
import supertest from 'supertest';
import { memoryStore, redisStore, subscribe } from '../../../packages/core/src/index.js';
import { rateLimit } from '../../../packages/express/src/index.js';
import { Rules } from '../../../packages/rules/src/index.js';
import { Messages } from '../../support/messages.js';
import { redisUrl, uniqueName } from '../../support/redis-url.js';

const DOCUMENT = `
name: shop
rules:
  - name: perIp
    match: { path: /* }
    limit: { fixedWindow: { limit: 100, window: 1h } }
  - name: perUser
    match: { path: /v1/* }
    key: '#{headers.x-user}'
    limits:
      perHour: { slidingWindow: { limit: 3, window: 1h } }
      perDay: { tokenBucket: { capacity: 50, refill: 50, every: 1d } }
  - name: orders
    match: { path: /v1/:shop/orders }
    key: '#{params.shop}'
    limit: { gcra: { limit: 50, period: 1h, burst: 50 } }
  - name: next
    mode: shadow
    compare: perUser
    limit: { fixedWindow: { limit: 1, window: 1h } }
  - name: later
    mode: shadow
    match: { path: /v1/* }
    key: '#{headers.x-tenant}'
    limit: { fixedWindow: { limit: 2, window: 1h } }
`;

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

function served(rules: Rules) {
  const limit = rateLimit({ rules });
  const app = express();
  app.use(limit);
  app.get('/{*all}', (_request, response) => void response.json({ ok: true }));
  const client = supertest(app);
  const get = (user: string, tenant = 'acme') =>
    client.get('/v1/a/orders').set('x-user', user).set('x-tenant', tenant);
  return { limit, get };
}

test('one script call decides three enforced rules, all or nothing, and two shadow rules', async () => {
  const store = redisStore(redisUrl());
  closers.push(() => store.close());
  await store.connect();
  const rules = new Rules(DOCUMENT, {
    store,
    keyPrefix: uniqueName('rules'),
    deadline: '10s',
    denyCache: false,
  });
  closers.push(() => rules.close());
  const { limit, get } = served(rules);
  const messages = new Messages();
  closers.push(() => messages.stop());
  for (let i = 0; i < 3; i += 1) await get('ann').expect(200);
  const denied = await get('ann').expect(429);
  expect(JSON.parse(denied.text)['violated-policies']).toEqual(['shop.perUser.perHour']);
  const calls = messages.on('sluice:store-call').map((call) => call.calls);
  expect(calls).toEqual([3, 3, 3, 3]); // one limiter call for the enforced rules, and one for each shadow rule
  const left = async (name: string, key: string) => (await limit.limiters[name]!.peek(key)).remaining;
  expect(await left('orders', 'a')).toBe(47);
  expect(await left('next', 'ann')).toBe(0);
});

test('shadow rules have their own counts, whose denials compare with the enforced rule', async () => {
  const store = memoryStore({ usage: true });
  closers.push(() => store.close());
  const rules = new Rules(DOCUMENT, { store });
  closers.push(() => rules.close());
  const { get } = served(rules);
  const counts: Record<string, number> = {};
  closers.push(
    subscribe('sluice:decision', ({ limiter, policy, mode, result }) => {
      const what = `${limiter} ${policy} ${mode} ${result}`;
      if (result === 'denied') counts[what] = (counts[what] ?? 0) + 1;
    }),
  );
  for (const user of ['ann', 'ann', 'ann', 'ann', 'bob']) await get(user, `of ${user}`);
  expect(counts).toEqual({
    'shop perUser.perHour enforce denied': 1,
    'shop.next shop.next shadow denied': 3,
    'shop.later shop.later shadow denied': 2,
  });
  const { limiters } = await readUsage(store);
  const total = (slots: readonly number[]) => slots.reduce((sum, one) => sum + one, 0);
  const figures = limiters.map(({ limiter, decisions, shadowDecisions: shadow }) => [
    limiter,
    [total(decisions.allowed), total(decisions.denied)],
    [total(shadow.allowed), total(shadow.denied)],
  ]);
  expect(figures.sort()).toEqual([
    ['shop', [4, 1], [0, 0]],
    ['shop.later', [0, 0], [3, 2]],
    ['shop.next', [0, 0], [2, 3]],
    ['shop.orders', [4, 0], [0, 0]],
    ['shop.perIp', [4, 0], [0, 0]],
    ['shop.perUser', [4, 1], [0, 0]],
  ]);
});

test('a shadow rule without a key lets the request pass and warns once', async () => {
  const rules = new Rules(DOCUMENT, { store: memoryStore() });
  closers.push(() => rules.store.close());
  closers.push(() => rules.close());
  const warnings: string[] = [];
  jest
    .spyOn(process, 'emitWarning')
    .mockImplementation(((message: string) => warnings.push(message)) as never);
  const limit = rateLimit({ rules });
  const app = express();
  app.use(limit, (_request, response) => void response.send('ok'));
  for (let i = 0; i < 2; i += 1) await supertest(app).get('/v1/x').set('x-user', 'ann').expect(200);
  jest.restoreAllMocks();
  expect(warnings).toEqual([expect.stringMatching(/dry run of limit 'shop.later'.*x-tenant/)]);
});

test('refund gives back the permits of all rules of a request', async () => {
  const rules = new Rules(DOCUMENT, { store: memoryStore() });
  closers.push(() => rules.store.close());
  closers.push(() => rules.close());
  const limit = rateLimit({ rules });
  const app = express();
  app.use(limit, async (request, response) => {
    await limit.refund(request.rateLimit!);
    response.send('ok');
  });
  const get = () => supertest(app).get('/v1/a/orders').set('x-user', 'ann').set('x-tenant', 'acme');
  for (let i = 0; i < 5; i += 1) await get().expect(200);
  expect(await limit.limiters.perUser!.peek('ann')).toMatchObject({ remaining: 3 });
  expect(() => limit.limiter).toThrow('has several limiters: use limiters.perIp or limiters.perUser');
  await expect(limit.refund({} as never)).rejects.toThrow("refund takes a decision of the rules 'shop'");
  await limit.close();
  await get().expect(200); // closing the adapter does not close the rules
});
