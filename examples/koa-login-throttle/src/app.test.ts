import { once } from 'node:events';
import type { Server } from 'node:http';
import { ManualClock, type MemoryStore, memoryStore } from '@sluice/core';
import supertest from 'supertest';
import { createApp, throttle } from './app.js';

const RIGHT = { account: 'ann', password: 'correct horse' };
let clock: ManualClock;
let store: MemoryStore;
let server: Server;

beforeEach(async () => {
  clock = new ManualClock();
  store = memoryStore({ clock });
  const app = createApp(store);
  app.silent = true; // keeps client errors out of the test log
  server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const login = (body: string | object) => supertest(server).post('/login').send(body);
const fail = (account: string) => login({ account, password: 'wrong' });

/** The permits left in the same store, read by a limit with the same name. */
async function left(account: string) {
  const { perIp, perAccount } = throttle(store, '1s').limiters;
  return {
    ip: (await perIp!.peek('127.0.0.1')).remaining,
    account: (await perAccount!.peek(account)).remaining,
  };
}

/** Waits for the refund, which may still be pending after the response. */
async function leftIs(account: string, wanted: Awaited<ReturnType<typeof left>>) {
  let now = await left(account);
  for (let i = 0; i < 1000 && JSON.stringify(now) !== JSON.stringify(wanted); i++) {
    await new Promise(setImmediate);
    now = await left(account);
  }
  expect(now).toEqual(wanted);
}

test('does not count successful logins', async () => {
  for (let i = 0; i < 6; i++) {
    await login(RIGHT).expect(200, 'welcome, ann\n');
    await leftIs('ann', { ip: 20, account: 5 });
  }
});

test('checks no password of an account for 15 min after five wrong ones', async () => {
  for (const spelling of ['ann', 'Ann', ' ann', 'ANN', 'ann ']) await fail(spelling).expect(401);
  await fail('ann').expect(429).expect('Retry-After', '900');
  await login(RIGHT).expect(429);
  await login({ account: 'ben', password: 'battery staple' }).expect(200);
  await clock.advance('15m');
  await login(RIGHT).expect(200);
});

test('a denial for the account takes nothing from the address, and the reverse', async () => {
  for (let i = 0; i < 5; i++) await fail('ann').expect(401);
  for (let i = 0; i < 20; i++) await fail('ann').expect(429);
  expect(await left('ann')).toEqual({ ip: 15, account: 0 });
  for (let i = 0; i < 15; i++) await fail(`guess-${i}`).expect(401);
  const denied = await fail('ben').expect(429);
  expect(JSON.parse(denied.text)).toMatchObject({ 'violated-policies': ['login.perIp'] });
  expect(await left('ben')).toEqual({ ip: 0, account: 5 });
});

test('checks at most five of many concurrent logins', async () => {
  const all = await Promise.all(Array.from({ length: 12 }, () => fail('ann')));
  const count = (wanted: number) => all.filter(({ status }) => status === wanted).length;
  expect([count(401), count(429)]).toEqual([5, 7]);
});

test.each([
  ['no JSON', 'account=ann', 400],
  ['no object', 'null', 400],
  ['no text', { account: { length: 3 }, password: 'x' }, 400],
  ['several accounts', { account: ['ann', 'ben'], password: 'x' }, 400],
  ['nobody', { account: ' ', password: 'x' }, 400],
  ['too much', { account: 'ann', password: 'x'.repeat(2000) }, 413],
])('refuses %s, and does not count it', async (_, body, status) => {
  await login(body).expect(status);
  expect(await left('ann')).toEqual({ ip: 20, account: 5 });
});
