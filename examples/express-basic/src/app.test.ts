import { once } from 'node:events';
import type { Server } from 'node:http';
import { ManualClock, memoryStore } from '@sluice/core';
import supertest from 'supertest';
import { createApp } from './app.js';

let clock: ManualClock;
let server: Server;
let client: ReturnType<typeof supertest>;

beforeEach(async () => {
  clock = new ManualClock();
  server = createApp(memoryStore({ clock })).listen(0, '127.0.0.1');
  await once(server, 'listening');
  client = supertest(server);
});

afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

async function statuses(times: number, method: 'get' | 'post', path: string, address = '192.0.2.7') {
  const all: number[] = [];
  for (let i = 0; i < times; i++) {
    all.push((await client[method](path).set('X-Forwarded-For', address)).status);
  }
  return all;
}
const repeated = (times: number, status: number) => new Array<number>(times).fill(status);

test('each address can send 20 requests at once and 10 per second', async () => {
  expect(await statuses(21, 'get', '/')).toEqual([...repeated(20, 200), 429]);
  expect(await statuses(1, 'get', '/', '192.0.2.8')).toEqual([200]);
  await clock.advance('1s');
  expect(await statuses(11, 'get', '/')).toEqual([...repeated(10, 200), 429]);
});

test('does not count health checks and our own network', async () => {
  expect(await statuses(21, 'get', '/', '10.1.2.3')).toEqual(repeated(21, 200));
  expect(await statuses(21, 'get', '/health')).toEqual(repeated(21, 200));
  await client.get('/').set('X-Forwarded-For', '192.0.2.7').expect(200, 'hello, 19 left\n');
});

test('a fourth report in a minute gets a 429, with both limits in the headers', async () => {
  expect(await statuses(3, 'post', '/reports')).toEqual(repeated(3, 200));
  const denied = await client.post('/reports').set('X-Forwarded-For', '192.0.2.7').expect(429);
  expect(denied.body).toEqual({ error: 'No more than 3 reports a minute', retryInSeconds: 60 });
  expect(denied.headers).toMatchObject({
    'retry-after': '60',
    ratelimit: '"all";r=16;t=1, "reports";r=0;t=60',
  });
  await clock.advance('1m');
  expect(await statuses(1, 'post', '/reports')).toEqual([200]);
});

test('a denial by a limit in code gets the answer of the middleware', async () => {
  expect(await statuses(2, 'post', '/mails')).toEqual([202, 202]);
  const denied = await client.post('/mails').expect(429).expect('Retry-After', '60');
  expect(denied.headers['content-type']).toMatch('application/problem+json');
  expect(JSON.parse(denied.text)).toMatchObject({ 'violated-policies': ['mails'] });
  await clock.advance('1m');
  expect(await statuses(1, 'post', '/mails')).toEqual([202]);
});
