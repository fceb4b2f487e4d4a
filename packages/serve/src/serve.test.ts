import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { memoryStore, type RedisStore, redisStore } from '@sluice/core';
import { loadRules, Rules } from '@sluice/rules';
import { eventually } from '../../../tests/support/eventually.js';
import { freePort } from '../../../tests/support/redis/free-port.js';
import { redisUrl, uniqueName } from '../../../tests/support/redis-url.js';
import { descriptor, RlsClient } from '../../../tests/support/rls-client.js';
import { within } from '../../../tests/support/within.js';
import { Decider } from './decider.js';
import { grpcListener, grpcServer } from './grpc-server.js';
import { serve } from './index.js';

// biome-ignore lint/suspicious/noExplicitAny: any JSON
type Json = any;

/** Codes of gRPC. */
const [CANCELLED, UNAVAILABLE] = [1, 14];
const FREE = { port: 0, grpcPort: 0 };
const stores: RedisStore[] = [];
afterEach(async () => {
  for (const store of stores.splice(0)) await store.close();
});
const redis = (options: object = {}) => {
  const store = redisStore({ url: redisUrl(), ...options });
  stores.push(store);
  return store;
};
const text = (name: string, limit: number, more = '') =>
  `name: ${name}\nrules: [{ name: user, match: { host: shop, path: /user }, key: '#{query.user}', limit: { fixedWindow: { limit: ${limit}, window: 1h } }${more} }]`;
const user = (name: string) => [descriptor(['user', name])];
/** What a proxy sends for a request of ann. */
const FORWARDED = {
  ...{ 'X-Forwarded-Uri': '/user?user=ann', 'X-Forwarded-Method': 'GET' },
  ...{ 'X-Forwarded-Host': 'shop', 'X-Forwarded-For': '192.0.2.7' },
};

test('servers share the counts of their Redis, over both protocols', async () => {
  const name = uniqueName('t');
  const rules = [redis(), redis()].map((store) => new Rules(text(name, 20), { store, deadline: '10s' }));
  const served = await Promise.all(rules.map((one) => serve(one, FREE)));
  const clients = served.map(({ grpcPort }) => new RlsClient(grpcPort));
  const overGrpc = clients.flatMap((client) =>
    Array.from(
      { length: 15 },
      async () => (await client.shouldRateLimit('shop', user('ann'))).overall_code === 'OK',
    ),
  );
  const overHttp = Array.from({ length: 10 }, async () => {
    const body = JSON.stringify({ host: 'shop', path: '/user', query: { user: 'ann' } });
    const headers = { 'Content-Type': 'application/json' };
    const response = await fetch(`http://127.0.0.1:${served[0]!.port}/v1/request`, {
      method: 'POST',
      headers,
      body,
    });
    return ((await response.json()) as Json).allowed;
  });
  const allowed = await Promise.all([...overGrpc, ...overHttp]);
  expect(allowed.filter(Boolean)).toHaveLength(20);
  for (const client of clients) client.close();
  await Promise.all(served.map((one) => one.close()));
  await Promise.all(rules.map((one) => one.close()));
});

test('changed rules apply without a restart, and a version with a mistake does not', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-serve-'));
  const file = join(folder, 'limits.yaml');
  await writeFile(file, text('rules', 1));
  const store = memoryStore();
  const rules = await loadRules(file, { store });
  const served = await serve(rules, FREE);
  const client = new RlsClient(served.grpcPort);
  const remaining = async () =>
    (await client.shouldRateLimit('shop', user('ann'))).statuses[0]!.limit_remaining;
  expect(await remaining()).toBe(0);
  await writeFile(file, text('rules', 5));
  await eventually(async () => rules.ruleSet.document.rules?.[0]?.limit?.fixedWindow?.limit === 5);
  expect(await remaining()).toBe(3);
  await writeFile(file, 'rules: 7');
  await eventually(async () => rules.problem !== undefined);
  expect(await remaining()).toBe(2);
  const ready = await fetch(`http://127.0.0.1:${served.port}/health/ready`);
  expect([ready.status, ((await ready.json()) as Json).rules.problem]).toEqual([
    200,
    expect.stringContaining('rules'),
  ]);
  client.close();
  await served.close();
  await rules.close();
  await store.close();
  await rm(folder, { recursive: true });
});

test.each([
  ['allow', 'OK', 200],
  ['deny', 'OVER_LIMIT', 503],
] as const)('while the store is out, the failure policy %s decides', async (failurePolicy, code, status) => {
  const store = redis({ url: `redis://127.0.0.1:${await freePort()}` });
  store.on('degraded', () => {}); // otherwise it warns
  const rules = new Rules(text(uniqueName('t'), 5, `, failurePolicy: ${failurePolicy}`), { store });
  const served = await serve(rules, FREE);
  const client = new RlsClient(served.grpcPort);
  expect(await client.shouldRateLimit('shop', user('ann'))).toMatchObject({
    overall_code: code,
    statuses: [{ code }],
  });
  const headers = FORWARDED;
  expect((await fetch(`http://127.0.0.1:${served.port}/v1/auth`, { headers })).status).toBe(status);
  expect((await fetch(`http://127.0.0.1:${served.port}/health/ready`)).status).toBe(200);
  const consumed = await fetch(`http://127.0.0.1:${served.port}/v1/consume`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: '{"rule":"user","key":"ann"}',
  });
  expect(await consumed.json()).toMatchObject({
    allowed: status === 200,
    source: failurePolicy,
    degraded: true,
    retryAfterMs: status === 200 ? 0 : 1_000 * Number(consumed.headers.get('retry-after')),
  });
  client.close();
  await served.close();
  await rules.close();
});

test('the first call waits for its deadline only, also if the store has never answered', async () => {
  const silent = createServer((socket) => socket.resume().on('error', () => {})).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const store = redis({ url: `redis://127.0.0.1:${(silent.address() as AddressInfo).port}` });
  store.on('degraded', () => {}); // otherwise it warns
  const rules = new Rules(text(uniqueName('t'), 5, ', failurePolicy: deny'), { store });
  const served = await serve(rules, FREE);
  const client = new RlsClient(served.grpcPort);
  await client.health(); // connected
  const began = performance.now();
  expect((await client.shouldRateLimit('shop', user('ann'))).overall_code).toBe('OVER_LIMIT');
  // The time of a first connection is 2 s. Its deadline is 100 ms, and the machine may stand still meanwhile.
  expect(performance.now() - began).toBeLessThan(1_900);
  client.close();
  await served.close();
  await rules.close();
  silent.close();
});

test('the store is connected when the server listens', async () => {
  const store = redis();
  const rules = new Rules(text(uniqueName('t'), 5), { store });
  const served = await serve(rules, FREE);
  expect(store.firstConnectionUntil).toBeUndefined();
  await served.close();
  await rules.close();
});

test('close answers the calls under way, refuses later ones, and can be called twice', async () => {
  const store = redis();
  const rules = new Rules(text(uniqueName('t'), 1_000), { store });
  const served = await serve(rules, FREE);
  const client = new RlsClient(served.grpcPort);
  await client.health(); // connected
  const calls = Array.from({ length: 200 }, (_, i) => client.shouldRateLimit('shop', user(`u${i % 7}`)));
  const headers = FORWARDED;
  const url = `http://127.0.0.1:${served.port}/v1/auth`;
  const requests = Array.from({ length: 20 }, () => fetch(url, { headers }));
  await calls[0];
  await requests[0];
  const closed = served.close();
  expect(served.close()).toBe(closed);
  const answers = await Promise.allSettled(calls);
  const failed = answers.flatMap((one) => (one.status === 'rejected' ? [one.reason.code] : []));
  // Each call is answered, or was refused before it began: then Envoy knows that it may send it again.
  expect(failed.filter((code) => code !== UNAVAILABLE)).toEqual([]);
  expect(answers.length - failed.length).toBeGreaterThan(0);
  for (const request of await Promise.allSettled(requests))
    if (request.status === 'fulfilled') expect(request.value.status).toBe(200);
  await closed;
  await expect(fetch(url, { headers })).rejects.toThrow();
  await expect(client.health()).rejects.toMatchObject({ code: UNAVAILABLE });
  client.close();
  await rules.close();
});

test('close ends calls that outlast the grace', async () => {
  const waiting = ', timeout: 1h';
  const store = memoryStore();
  const rules = new Rules(text('rules', 1, waiting), { store });
  const served = await serve(rules, { ...FREE, grace: '20ms' });
  const client = new RlsClient(served.grpcPort);
  await client.shouldRateLimit('shop', user('ann'));
  const waits = client.shouldRateLimit('shop', user('ann')).catch(({ code }) => code);
  await eventually(async () => (await rules.limiter('user').peek('ann')).retryAfter > 3_600_000);
  await served.close();
  expect(await waits).toBe(CANCELLED);
  client.close();
  await rules.close();
  await store.close();
});

test('close waits for calls also with a grace that is longer than any timer', async () => {
  const store = memoryStore();
  const rules = new Rules(text('rules', 1, ', timeout: 1h'), { store });
  const served = await serve(rules, { ...FREE, grace: '30d' });
  await rules.limiter('user').consume('ann');
  const client = new AbortController();
  let isOver = false;
  const waits = fetch(`http://127.0.0.1:${served.port}/v1/auth`, {
    headers: FORWARDED,
    signal: client.signal,
  }).catch(() => {
    isOver = true;
  });
  await eventually(async () => (await rules.limiter('user').peek('ann')).retryAfter > 3_600_000);
  const closed = served.close();
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(isOver).toBe(false);
  client.abort();
  await waits;
  await closed;
  await rules.close();
  await store.close();
});

test.each([
  ['port', 'at once', '1h'],
  ['grpcPort', 'after the grace', '20ms'],
] as const)('close ends a connection to %s that sends nothing %s', async (name, _, grace) => {
  const store = memoryStore();
  const rules = new Rules(text('rules', 1), { store });
  const served = await serve(rules, { ...FREE, grace });
  const socket = connect(served[name], '127.0.0.1');
  socket.on('error', () => {});
  await once(socket, 'connect');
  await served.close();
  socket.destroy();
  await rules.close();
  await store.close();
});

/** What a client of HTTP/2 sends first: the preface, and an empty SETTINGS frame. */
const HELLO = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0', 'latin1');

test('a gRPC connection whose client answers no ping is closed', async () => {
  const store = memoryStore();
  const rules = new Rules(text('rules', 1), { store });
  const grpc = grpcServer(new Decider(rules), () => true, { every: 50, within: 200 });
  const listener = grpcListener(grpc).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port } = listener.address() as AddressInfo;
  const lost = connect(port, '127.0.0.1').resume();
  lost.on('error', () => {});
  lost.write(HELLO);
  await within(new Promise((closed) => lost.once('close', closed)), 'the server closes the connection');
  const client = new RlsClient(port);
  expect(await client.health()).toBe(1);
  client.close();
  grpc.forceShutdown();
  listener.close();
  await rules.close();
  await store.close();
});

describe('options', () => {
  const store = memoryStore();
  const rules = new Rules(text('options', 1), { store });
  afterAll(async () => {
    await rules.close();
    await store.close();
  });

  test.each([
    [{ prot: 1 }, "serve has no option 'prot'; did you mean 'port'?"],
    [{ port: 70_000 }, 'serve: port must be a whole number from 0 to 65535, not 70000'],
    [{ grpcPort: '1' }, 'serve: grpcPort must be a whole number from 0 to 65535, not "1"'],
    [{ host: '' }, 'serve: host must be an address such as 127.0.0.1, not ""'],
    [{ grace: 'soon' }, /^serve: grace/],
    [{ requestTimeout: 0 }, /^serve: requestTimeout/],
  ])('%j is refused', async (options, message) => {
    await expect(serve(rules, options as never)).rejects.toThrow(message);
  });

  test('rules that are none are refused', async () => {
    await expect(serve('limits.yaml' as never)).rejects.toThrow(
      'serve: rules must come from loadRules or new Rules, not "limits.yaml"',
    );
  });

  test.each(['port', 'grpcPort'])('a %s in use is an error, and nothing stays open', async (name) => {
    const other = createServer().listen(0, '127.0.0.1');
    await eventually(async () => other.listening);
    const { port } = other.address() as { port: number };
    await expect(serve(rules, { ...FREE, [name]: port })).rejects.toThrow(
      /^serve: cannot listen for (HTTP|gRPC): /,
    );
    other.close();
  });
});
