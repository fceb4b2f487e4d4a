import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { join } from 'node:path';
import { ManualClock, memoryStore } from '@sluice/core';
import { Rules, testRules } from '@sluice/rules';
import supertest from 'supertest';
import { createApp } from './app.js';

const file = join(__dirname, '../limits.yaml');
const clock = new ManualClock();
const rules = new Rules(readFileSync(file, 'utf8'), { store: memoryStore({ clock }) });
let server: Server;
let client: ReturnType<typeof supertest>;

beforeAll(async () => {
  server = createApp(rules).listen(0, '127.0.0.1');
  await once(server, 'listening');
  client = supertest(server);
});

afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await rules.close();
  await rules.store.close();
});

test('the tests in limits.yaml pass', async () => {
  await testRules(file);
});

test('users have the limits of their plans', async () => {
  const get = (user: string) => client.get('/api/items').set('x-user', user);
  for (const left of [2, 1, 0]) await get('ann').expect(200, `items; ${left} left\n`);
  const denied = await get('ann').expect(429).expect('Retry-After', '60');
  expect(JSON.parse(denied.text)['violated-policies']).toEqual(['shop.api']);
  for (let i = 0; i < 4; i += 1) await get('bob').expect(200);
  await clock.advance('1m');
  await get('ann').expect(200);
  await client.get('/api/items').expect(401);
});

test('a second report in a minute gets the reply of its rule', async () => {
  const post = () => client.post('/api/reports').set('x-user', 'bob');
  await post().expect(200, 'your report\n');
  await post().expect(429, { error: 'One report a minute' });
});

test('does not count health checks', async () => {
  for (let i = 0; i < 25; i += 1) await client.get('/health').expect(200, 'up\n');
});
