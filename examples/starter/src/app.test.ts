import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ManualClock, memoryStore } from '@sluice/core';
import { dashboard } from '@sluice/dashboard';
import { closeSluice } from '@sluice/decorators';
import supertest from 'supertest';
import { createApp } from './app.js';

let clock: ManualClock;
let server: Server;
let url: string;

beforeEach(async () => {
  clock = new ManualClock();
  const store = memoryStore({ clock });
  server = createApp(store, dashboard(store, { authorize: () => true })).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(async () => {
  server.closeAllConnections();
  await Promise.all([new Promise((resolve) => server.close(resolve)), closeSluice()]);
});

test.each([
  ['get', '/limiter/count?key=test', 2, 10],
  ['get', '/limiter/rate?key=test', 1, 5],
  ['get', '/limiter/rate2', 1, 30],
  ['post', '/sms/count?phone=13800000000', 1, 60],
  ['post', '/sms/rate?phone=13800000000', 1, 60],
  ['get', '/hello', 5, 10],
] as const)('lets %s %s pass %d times, and again after %d s', async (method, path, passes, seconds) => {
  const client = supertest(url);
  for (let i = 0; i < passes; i++) await client[method](path).expect(200);
  await client[method](path)
    .expect(429)
    .expect('Retry-After', String(seconds))
    .expect('Content-Type', /^application\/problem\+json/);
  await clock.advance(`${seconds}s`);
  await client[method](path).expect(200);
});

test('other keys and numbers have limits of their own', async () => {
  const client = supertest(url);
  for (const phone of ['1', '2', '3']) await client.post(`/sms/count?phone=${phone}`).expect(200);
  for (const key of ['a', 'a', 'b', 'b']) await client.get(`/limiter/count?key=${key}`).expect(200);
});

test.each([
  ['post', '/sms/count', /#\{params\.phone\}.* is missing/],
  ['post', '/sms/rate?phone=1&phone=2', /is an array/],
  ['get', '/limiter/count?key[]=x', /#\{key\}.* is missing/],
] as const)('answers %s %s with a 400 and the reason', async (method, path, message) => {
  const { text } = await supertest(url)[method](path).expect(400);
  expect(text).toMatch(message);
});
