import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fixedWindow, memoryStore, RateLimiter } from '@sluice/core';
import { OpenResponse } from '../../../tests/support/open-response.js';
import { RequestLimit } from './request-limit.js';

const policy = fixedWindow({ limit: 2, window: '1h' });
const request = (ip = '192.0.2.1') => ({
  ip,
  user: undefined,
  method: 'GET',
  path: '/',
  params: {},
  query: {},
  body: undefined,
  headers: {},
});

let emitted: jest.SpyInstance;
let where = 'rateLimit';
let test_ = 0;
const codes = () => emitted.mock.calls.map(([, { code }]) => code);

beforeEach(() => {
  emitted = jest.spyOn(process, 'emitWarning').mockReturnValue();
  test_ += 1;
  where = `rateLimit ${test_}`; // separates the limits of the tests
});
afterEach(() => jest.restoreAllMocks());

const make = (options: object = {}) =>
  new RequestLimit(where, { policy, name: `made-${test_}`, ...options } as never);
const handle = (limit: ReturnType<typeof make>, ip?: string) =>
  limit.handle(request(ip), new OpenResponse() as never);

test('a limit created for each request causes one warning', async () => {
  for (let i = 0; i < 10; i += 1) {
    expect((await handle(make())).outcome).toBe('passed'); // with a limit of 2
    await sleep(1);
  }
  expect(codes()).toEqual(['SLUICE_LIMIT_PER_REQUEST']);
  expect(emitted.mock.calls[0][0]).toBe(
    `${where}: limit 'made-${test_}' was created 3 times, for one request of the same client each. Each instance counts by itself, so it ` +
      'never denies. Create the limit once, outside the request handler',
  );
});

test('requests of many clients in between do not prevent the warning', async () => {
  for (let i = 0; i < 3; i += 1) {
    for (let client = 0; client < 50; client += 1) await handle(make(), `192.0.2.${client}`);
  }
  expect(codes()).toEqual(['SLUICE_LIMIT_PER_REQUEST']);
});

test('a policy that depends on the request also causes the warning', async () => {
  for (let i = 0; i < 3; i += 1) await handle(make({ policy: () => policy }));
  expect(codes()).toEqual(['SLUICE_LIMIT_PER_REQUEST']);
});

test('a handler that awaits before the limit also causes the warning', async () => {
  const server = createServer(async (_, response) => {
    const limit = make();
    await Promise.resolve();
    response.end((await handle(limit)).outcome);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  for (let i = 0; i < 3; i += 1) {
    expect(await (await fetch(`http://127.0.0.1:${port}`)).text()).toBe('passed');
  }
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  expect(codes()).toEqual(['SLUICE_LIMIT_PER_REQUEST']);
});

test('a limit per tenant, created on first use and kept, causes no warning', async () => {
  const limits = new Map<number, ReturnType<typeof make>>();
  for (const tenant of [1, 2, 1, 3, 2, 4, 5, 6]) {
    const limit = limits.get(tenant) ?? make();
    limits.set(tenant, limit);
    await handle(limit);
  }
  expect(codes()).toEqual([]);
});

test('limits created before their requests, as in tests, cause no warning', async () => {
  for (let i = 0; i < 5; i += 1) {
    const limit = make();
    await sleep(1);
    await handle(limit);
  }
  expect(codes()).toEqual([]);
});

test('limits that share a store cause no warning, however often they are created', async () => {
  const store = memoryStore();
  const limiter = new RateLimiter({ policy });
  const outcomes = [];
  for (let i = 0; i < 3; i += 1) outcomes.push((await handle(make({ store }))).outcome);
  expect(outcomes).toEqual(['passed', 'passed', 'denied']);
  for (let i = 0; i < 5; i += 1) await handle(new RequestLimit(where, { limiter }));
  expect(codes()).toEqual([]);
  await Promise.all([store.close(), limiter.close()]);
});

test('validate: false turns the warning off', async () => {
  for (let i = 0; i < 5; i += 1) await handle(make({ validate: false }));
  expect(codes()).toEqual([]);
});

test('names and keys from requests do not fill the memory', async () => {
  for (let i = 0; i < 3000; i += 1) await handle(make({ name: `n${i}` }), `2001:db8:${i.toString(16)}::1`);
  expect(codes()).toEqual([]);
});
