import { ManualClock, memoryStore } from '@sluice/core';
import type { FastifyInstance } from 'fastify';
import supertest from 'supertest';
import { createApp } from './app.js';

let clock: ManualClock;
let app: FastifyInstance;
let client: ReturnType<typeof supertest>;

beforeEach(async () => {
  clock = new ManualClock();
  app = await createApp(memoryStore({ clock }));
  await app.listen({ port: 0, host: '127.0.0.1' });
  client = supertest(app.server);
});

afterEach(() => app.close());

async function statuses(...paths: string[]): Promise<number[]> {
  const all: number[] = [];
  for (const path of paths) all.push((await client.get(path)).status);
  return all;
}
const times = (count: number, path: string) => new Array<string>(count).fill(path);

test('routes without settings, and 404s, share the limit of the plugin', async () => {
  await client.get('/').expect(200, 'hello, 19 left\n');
  expect(await statuses(...times(19, '/nowhere'), '/', '/nowhere')).toEqual([
    ...new Array(19).fill(404),
    429,
    429,
  ]);
  await clock.advance('100ms');
  expect(await statuses('/', '/')).toEqual([200, 429]);
});

test('a route without a limit, or with its own, takes nothing from the limit of the plugin', async () => {
  expect(await statuses(...times(25, '/health'))).toEqual(new Array(25).fill(200));
  expect(await statuses(...times(4, '/search'))).toEqual([200, 200, 200, 429]);
  await client.get('/').expect(200, 'hello, 19 left\n');
  await clock.advance('1m');
  expect(await statuses('/search')).toEqual([200]);
});

test('the routes of a group share one count', async () => {
  expect(await statuses('/exports/csv', '/exports/pdf', '/exports/csv', '/exports/pdf')).toEqual([
    200, 200, 429, 429,
  ]);
});

test('counts login links by the e-mail address in the body', async () => {
  const ask = (body: object) => client.post('/login-links').send(body);
  await ask({ email: 'ann@example.com' }).expect(202);
  await ask({ email: 'ann@example.com' }).expect(429).expect('Retry-After', '60');
  await ask({ email: 'ben@example.com' }).expect(202);
  for (const body of [{}, { email: { length: 9 } }, { email: 'x' }]) await ask(body).expect(400);
});
