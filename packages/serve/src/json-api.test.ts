import { connect } from 'node:net';
import { ManualClock, memoryStore } from '@sluice/core';
import { parseRules, Rules } from '@sluice/rules';
import { z } from 'zod';
import { eventually } from '../../../tests/support/eventually.js';
import { failingStore } from '../../../tests/support/failing-store.js';
import { type ServedRules, serve } from './index.js';

// biome-ignore lint/suspicious/noExplicitAny: any JSON
type Json = any;

const RULES = `
version: 7
plans: { free: { n: 1, c: 1 }, pro: { n: 5, c: 2 } }
defaultPlan: free
rules:
  - name: api
    match: { path: /v1/* }
    key: "#{headers['x-user']}"
    limit: { fixedWindow: { limit: 2, window: 1m } }
  - name: wide
    match: { path: /v1/*, method: POST, host: shop.example, query: { all: '1' } }
    key: IP
    limit: { fixedWindow: { limit: 5, window: 1h } }
    cost: 3
    reply: { status: 503, body: { error: slow }, headers: { retry-after: 7, content-type: text/html } }
  - name: logins
    match: { path: /login }
    skipSuccessfulRequests: true
    limit: { fixedWindow: { limit: 1, window: 1m } }
  - name: held
    match: { path: /held }
    limit: { concurrency: { limit: 1, lease: 1h } }
  - { name: wait, match: { path: /wait }, key: METHOD, timeout: 1h, limit: { fixedWindow: { limit: 1, window: 1m } } }
  - { name: sms, plan: '#{plan}', limit: { fixedWindow: { limit: $plan.n, window: 1h } }, key: '#{phone}' }
  - { name: calls, plan: '#{plan}', cost: $plan.c, limit: { fixedWindow: { limit: 9, window: 1h } }, key: '#{phone}' }
  - { name: sms-next, mode: shadow, compare: sms, limit: { fixedWindow: { limit: 9, window: 1h } } }
  - { name: calls-sized, mode: shadow, compare: calls, cost: '#{body.size}', limit: { fixedWindow: { limit: 9, window: 1h } } }
  - { name: free, match: { path: /free }, unlimited: true }
  - { name: zero, match: { path: /zero }, key: METHOD, limit: { fixedWindow: { limit: 0, window: 1h } } }
  - { name: homes, ipv6Subnet: 48, limit: { fixedWindow: { limit: 1, window: 1m } } }
  - { name: sized, match: { path: /sized }, cost: '#{body.size}', limit: { fixedWindow: { limit: 100, window: 1m } } }
`;

const clock = new ManualClock();
const store = memoryStore({ clock });
let rules: Rules;
let served: ServedRules;

beforeEach(async () => {
  rules = new Rules(RULES, { store });
  served = await serve(rules, { port: 0, grpcPort: 0 });
});
afterEach(async () => {
  await served.close();
  await rules.close();
  await clock.advance('2d');
});
afterAll(() => store.close());

const url = (path: string) => `http://127.0.0.1:${served.port}${path}`;
const post = async (path: string, body: unknown) => {
  const headers = { 'Content-Type': 'application/json' };
  const response = await fetch(url(path), { method: 'POST', headers, body: JSON.stringify(body) });
  return { status: response.status, body: (await response.json()) as Json };
};

test('a rule is consumed by its name, with a cost and a plan', async () => {
  const first = await post('/v1/consume', { rule: 'sms', key: '+49' });
  expect(first).toEqual({
    status: 200,
    body: {
      ...{
        allowed: true,
        policy: 'rules.sms',
        limit: 1,
        remaining: 0,
        retryAfterMs: 0,
        resetAfterMs: 3_600_000,
      },
      ...{ source: 'memory', degraded: false },
      headers: {
        'RateLimit-Policy': '"rules.sms";q=1;w=3600',
        RateLimit: '"rules.sms";r=0;t=3600',
      },
    },
  });
  const denied = await post('/v1/consume', { rule: 'sms', key: '+49' });
  expect(denied).toMatchObject({
    status: 200,
    body: {
      allowed: false,
      retryAfterMs: 3_600_000,
      headers: { 'Retry-After': '3600' },
      response: { status: 429 },
    },
  });
  expect(Object.keys(denied.body.response)).toEqual(['status', 'type', 'body']);
  const pro = await post('/v1/consume', { rule: 'sms', key: '+49', plan: 'pro', cost: 4 });
  expect(pro.body).toMatchObject({ allowed: true, limit: 5, remaining: 0 });
  expect((await post('/v1/consume', { rule: 'sms', key: '+1', cost: 9 })).body).toMatchObject({
    retryAfterMs: null,
  });
  expect((await rules.limiter('sms-next').peek('+49')).remaining).toBe(3);
});

test('during a rollout, a rule by its name is the rule of the version before, as for code', async () => {
  const before = rules.ruleSet;
  const renamed = RULES.replace('name: sms,', 'name: text,').replace('compare: sms', 'compare: text');
  const next = parseRules(`${renamed}rollout: { percent: 50, by: key }`);
  rules.replace(next, before);
  const statusOf = async (rule: string) => (await post('/v1/consume', { rule, key: 'a' })).status;
  expect([await statusOf('sms'), await statusOf('text')]).toEqual([200, 200]);
  rules.replace(next);
  expect([await statusOf('sms'), await statusOf('text')]).toEqual([404, 200]);
});

test('during a rollout, a rule by its name has the kind and the reply of the version that decides', async () => {
  const before = rules.ruleSet;
  const unlimited = '{ name: free, match: { path: /free }, unlimited: true }';
  const limited = '{ name: free, limit: { fixedWindow: { limit: 1, window: 1h } } }';
  for (const next of [RULES.replace(unlimited, limited), RULES.replace(`  - ${unlimited}`, '')]) {
    rules.replace(
      parseRules(`${next.replace('status: 503', 'status: 420')}rollout: { percent: 50 }`),
      before,
    );
    for (let i = 0; i < 2; i += 1) {
      const free = await post('/v1/consume', { rule: 'free', key: 'a' });
      expect(free).toEqual({ status: 200, body: { allowed: true, headers: {} } });
    }
    const denied = await post('/v1/consume', { rule: 'wide', key: '192.0.2.9', cost: 9 });
    expect(denied.body.response.status).toBe(503);
  }
});

test('an address as the key of a rule counts as the address of a request', async () => {
  const allowed = async (rule: string, key: string) =>
    (await post('/v1/consume', { rule, key })).body.allowed;
  expect(await allowed('logins', '2001:db8::1')).toBe(true);
  expect(await allowed('logins', '2001:DB8:0:0:ffff::2')).toBe(false);
  expect(await allowed('logins', '2001:db8:0:1::1')).toBe(true);
  const sent = await post('/v1/request', { path: '/login', ip: '2001:db8::3' });
  expect(sent.body.allowed).toBe(false);
  expect([await allowed('logins', '192.0.2.8'), await allowed('logins', '::ffff:192.0.2.8')]).toEqual([
    true,
    false,
  ]);
  expect([await allowed('homes', '2001:db8::1'), await allowed('homes', '2001:db8:0:1::1')]).toEqual([
    true,
    false,
  ]);
  // A rule without `key` counts any text.
  expect([await allowed('homes', '+49 151'), await allowed('homes', '+49 151')]).toEqual([true, false]);
  // Other keys stay as they are.
  expect([await allowed('sms', '2001:db8::1'), await allowed('sms', '2001:db8::2')]).toEqual([true, true]);
});

test('a rule whose cost depends on the request needs a cost', async () => {
  expect(await post('/v1/consume', { rule: 'sized', key: 'a' })).toMatchObject({
    status: 400,
    body: { detail: 'The cost of rule sized depends on the request: send cost, or use /v1/request.' },
  });
  const sent = await post('/v1/consume', { rule: 'sized', key: 'a', cost: 60 });
  expect(sent.body).toMatchObject({ allowed: true, remaining: 40 });
});

test('a compared shadow rule whose cost depends on the request counts only a cost that the call has', async () => {
  const left = async () => (await rules.limiter('calls-sized').peek('+8')).remaining;
  await post('/v1/consume', { rule: 'calls', key: '+8' });
  expect(await left()).toBe(9);
  await post('/v1/consume', { rule: 'calls', key: '+8', cost: 2 });
  expect(await left()).toBe(7);
});

test('a rule without a limit allows every call', async () => {
  const answer = { status: 200, body: { allowed: true, headers: {} } };
  for (let i = 0; i < 3; i += 1)
    expect(await post('/v1/consume', { rule: 'free', key: 'a' })).toEqual(answer);
});

test('a plan has its own cost', async () => {
  const left = async (plan?: string) =>
    (await post('/v1/consume', { rule: 'calls', key: '+3', plan })).body.remaining;
  expect([await left(), await left('pro'), await left('other'), await left('free')]).toEqual([8, 6, 5, 4]);
});

test('a shadow rule by its name counts and never denies', async () => {
  const consumed = [1, 2].map(() => post('/v1/consume', { rule: 'sms-next', key: '+7', cost: 9 }));
  for (const { body } of await Promise.all(consumed)) expect(body).toEqual({ allowed: true, headers: {} });
  expect((await rules.limiter('sms-next').peek('+7')).remaining).toBe(0);
});

test('a request is decided by all rules that match it, with their reply', async () => {
  const request = {
    ...{ method: 'POST', path: '/v1/a?all=1', host: 'shop.example', ip: '192.0.2.7' },
    headers: { 'X-User': 'ann' },
  };
  const { body } = await post('/v1/request', request);
  expect(body).toMatchObject({ allowed: true, policy: 'rules.api', remaining: 1 });
  expect(body.headers['RateLimit-Policy']).toBe('"rules.api";q=2;w=60, "rules.wide";q=5;w=3600');
  const denied = await post('/v1/request', request);
  expect(denied.body).toMatchObject({ allowed: false, policy: 'rules.wide' });
  expect(denied.body.response).toEqual({ status: 503, type: 'application/json', body: '{"error":"slow"}' });
  expect((await post('/v1/request', { ...request, method: 'GET', cost: 1 })).body).toMatchObject({
    remaining: 0,
  });
});

test('a request without a rule, and one without a limit, pass uncounted', async () => {
  for (const path of ['/other', '/free']) {
    expect(await post('/v1/request', { path })).toEqual({
      status: 200,
      body: { allowed: true, headers: {} },
    });
  }
  expect((await post('/v1/request', {})).body).toEqual({ allowed: true, headers: {} });
});

test('a success refunds nothing, because the server does not see the response', async () => {
  const sent = async () => (await post('/v1/request', { path: '/login', ip: '192.0.2.7' })).body.allowed;
  expect([await sent(), await sent()]).toEqual([true, false]);
});

test('a permit of concurrency is released with the answer', async () => {
  const sent = async () => (await post('/v1/request', { path: '/held', ip: '192.0.2.7' })).body.allowed;
  expect([await sent(), await sent()]).toEqual([true, true]);
});

test('a pipelined request that its client leaves releases its permit, and stops its wait', async () => {
  const socket = connect(served.port, '127.0.0.1');
  const ask = (path: string) =>
    `GET /v1/auth HTTP/1.1\r\nHost: a\r\nX-Forwarded-Uri: ${path}\r\nX-Forwarded-Method: GET\r\nX-Forwarded-Host: a\r\nX-Forwarded-For: 192.0.2.7\r\n\r\n`;
  await post('/v1/request', { path: '/wait' });
  socket.write(ask('/wait') + ask('/wait?2') + ask('/held'));
  const held = async () => (await rules.limiter('held').peek('192.0.2.7')).remaining === 0;
  const waiting = async () => (await rules.limiter('wait').peek('all')).retryAfter;
  await eventually(held);
  expect(await waiting()).toBe(180_000);
  socket.destroy();
  await eventually(async () => !(await held()));
  await eventually(async () => (await waiting()) === 60_000);
});

describe('for proxies', () => {
  // What Caddy's forward_auth and our recipe for nginx send.
  const auth = (user: string, query = '', more: Record<string, string> = {}) =>
    fetch(url(`/v1/auth${query}`), {
      headers: {
        ...{
          'X-Forwarded-Method': 'POST',
          'X-Forwarded-Uri': '/v1/a?all=1',
          'X-Forwarded-Host': 'shop.example',
        },
        ...{ 'X-Forwarded-For': '192.0.2.7', 'X-Forwarded-Proto': 'https', 'X-User': user, ...more },
      },
    });

  test('the status is the decision, and the headers are for the client', async () => {
    const allowed = await auth('ann', '', { 'X-Forwarded-Uri': '/v1/a' });
    expect([allowed.status, await allowed.text()]).toEqual([200, '']);
    expect(allowed.headers.get('RateLimit')).toBe('"rules.api";r=1;t=60');
    await auth('ann', '', { 'X-Forwarded-Uri': '/v1/b' });
    const denied = await auth('ann', '', { 'X-Forwarded-Uri': '/v1/a' });
    expect([denied.status, denied.headers.get('Retry-After')]).toEqual([429, '60']);
    expect((await denied.json()) as Json).toMatchObject({ status: 429, 'violated-policies': ['rules.api'] });
  });

  test('a denial has the status that the proxy names', async () => {
    await auth('ben');
    const own = await auth('ben');
    expect([own.status, own.headers.get('Retry-After'), own.headers.get('Content-Type')]).toEqual([
      ...[503, '7', 'application/json'], // the reply of the rule; its body has the type
    ]);
    expect((await auth('ben', '?denied=403')).status).toBe(403);
    const wrong = await auth('ben', '?denied=200');
    expect([wrong.status, ((await wrong.json()) as Json).detail]).toEqual([
      400,
      'denied must be 401, 403 or 429.',
    ]);
  });

  test('the last address counts: the proxy added it, and clients write those before', async () => {
    await auth('cay', '', { 'X-Forwarded-For': '203.0.113.1, 192.0.2.7' });
    expect((await rules.limiter('wide').peek('192.0.2.7')).remaining).toBe(2);
    expect((await rules.limiter('wide').peek('203.0.113.1')).remaining).toBe(5);
  });

  test('a request has the 32 KiB of headers that nginx accepts', async () => {
    const cookies = Object.fromEntries(
      ['X-A', 'X-B', 'X-C', 'Cookie'].map((name) => [name, 'x'.repeat(8_000)]),
    );
    expect((await auth('dan', '', cookies)).status).toBe(200);
  });

  test.each(['Uri', 'Method', 'Host', 'For'])(
    'a proxy without X-Forwarded-%s gets a 400',
    async (missing) => {
      const names = ['Uri', 'Method', 'Host', 'For'].filter((name) => name !== missing);
      const headers = Object.fromEntries(names.map((name) => [`X-Forwarded-${name}`, '/']));
      const bare = await fetch(url('/v1/auth'), { headers });
      expect([bare.status, ((await bare.json()) as Json).detail]).toEqual([
        400,
        'The proxy must send X-Forwarded-Uri, -Method, -Host and -For.',
      ]);
    },
  );
});

test('the API describes itself', async () => {
  const { openapi, paths } = (await (await fetch(url('/openapi.json'))).json()) as Json;
  expect(openapi).toBe('3.1.0');
  expect(Object.keys(paths)).toEqual([
    ...['/v1/consume', '/v1/request', '/v1/auth', '/health/live', '/health/ready', '/openapi.json'],
  ]);
  const { schema } = paths['/v1/consume'].post.requestBody.content['application/json'];
  expect(schema).toMatchObject({ required: ['rule', 'key'], additionalProperties: false });
  const responses = Object.keys(paths['/v1/consume'].post.responses);
  expect(responses).toEqual(['200', '400', '404', '413', '415']);
  for (const path of Object.keys(paths).filter((one) => paths[one].get !== undefined && one !== '/v1/auth')) {
    expect([path, (await fetch(url(path))).status]).toEqual([path, 200]);
  }
});

test('the API answers as it describes', async () => {
  const far = failingStore();
  const sources = new Rules(
    `
rules:
  - { name: out, match: { path: /out }, key: METHOD, failurePolicy: deny, limit: { fixedWindow: { limit: 1, window: 1h } } }
`,
    { store: far.store },
  );
  const other = await serve(sources, { port: 0, grpcPort: 0 });
  const { paths } = (await (await fetch(url('/openapi.json'))).json()) as Json;
  const ofPath = (path: string) => paths[path].post.responses['200'].content['application/json'].schema;
  const seen = new Set<string>();
  const check = async (path: string, body: Json, port = served.port) => {
    const headers = { 'Content-Type': 'application/json' };
    const sent = { method: 'POST', headers, body: JSON.stringify(body) };
    const response = await fetch(`http://127.0.0.1:${port}${path}`, sent);
    const answer = (await response.json()) as Json;
    expect(response.status).toBe(200);
    z.fromJSONSchema(ofPath(path)).parse(answer);
    for (const name of Object.keys(answer)) {
      seen.add(name);
      expect(Object.keys(ofPath(path).properties)).toContain(name);
    }
    return answer;
  };
  const user = { path: '/v1/a', headers: { 'x-user': 'ann' } };
  const requests = [
    user,
    user,
    user,
    { ...user, cost: 9 },
    { path: '/free' },
    { path: '/other' },
    { path: '/zero' },
  ];
  const allowed = [];
  for (const request of requests) allowed.push((await check('/v1/request', request)).allowed);
  expect(allowed).toEqual([true, true, false, false, true, true, false]);
  for (const rule of ['wide', 'held', 'zero', 'free', 'sms-next', 'calls'])
    for (const cost of [undefined, 1, 99]) await check('/v1/consume', { rule, key: '192.0.2.9', cost });
  far.fail();
  await check('/v1/request', { path: '/out' }, other.port);
  await check('/v1/consume', { rule: 'out', key: 'a' }, other.port);
  // Each field that the document has was in an answer.
  expect([...seen].sort()).toEqual(Object.keys(ofPath('/v1/request').properties).sort());
  await other.close();
  await sources.close();
  await far.store.close();
});

test('readiness names the store and the version of the rules', async () => {
  expect(await (await fetch(url('/health/ready'))).json()).toEqual({
    ready: true,
    store: 'memory',
    rules: { name: 'rules', version: 7 },
  });
});
