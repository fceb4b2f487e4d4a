import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { memoryStore } from '@sluice/core';
import { Rules } from '@sluice/rules';
import { type ServedRules, serve } from '@sluice/serve';
import { type Nginx, startNginx } from '../../support/nginx.js';

const page = readFileSync(resolve(__dirname, '../../../docs/serve.md'), 'utf8');
const [, configuration] = /^```nginx serve\n([\s\S]*?)^```$/m.exec(page)!;

const RULES = `
rules:
  - { name: api, match: { path: /api/*, method: POST }, limit: { fixedWindow: { limit: 2, window: 1h } } }
`;
const store = memoryStore();
const rules = new Rules(RULES, { store });
let served: ServedRules;
let service: Server;
let nginx: Nginx;

beforeAll(async () => {
  served = await serve(rules, { port: 0, grpcPort: 0 });
  service = createServer((request, response) => {
    response.statusCode = request.url === '/forbidden' ? 403 : 200;
    response.end('served');
  });
  await new Promise<void>((done) => service.listen(0, '127.0.0.1', done));
  const text = configuration!
    .replace('127.0.0.1:3000', `127.0.0.1:${(service.address() as AddressInfo).port}`)
    .replace('127.0.0.1:8080', `127.0.0.1:${served.port}`);
  nginx = await startNginx(text);
}, 120_000);
afterAll(async () => {
  await nginx?.stop();
  service?.closeAllConnections();
  service?.close();
  await served?.close();
  await rules.close();
  await store.close();
});

const send = async (path: string, address: string, headers: Record<string, string> = {}) => {
  const response = await fetch(nginx.url + path, {
    method: 'POST',
    body: 'x'.repeat(1_000),
    headers: { 'X-Forwarded-For': address, ...headers },
  });
  return [response.status, response.headers.get('Retry-After')];
};

test('behind nginx with the recipe, a denial is a 429 that says when to come back', async () => {
  expect(await send('/api/a', '192.0.2.7')).toEqual([200, null]);
  expect(await send('/api/a?b=1', '192.0.2.7')).toEqual([200, null]);
  const [status, retryAfter] = await send('/api/a', '192.0.2.7');
  expect(status).toBe(429);
  expect(Number(retryAfter)).toBeGreaterThan(3_500);
  expect(await send('/api/a', '192.0.2.8')).toEqual([200, null]);
  expect(await send('/other', '192.0.2.7')).toEqual([200, null]);
});

test('a client cannot write what the rules see', async () => {
  const forged = { 'X-Forwarded-Uri': '/free', 'X-Forwarded-Method': 'GET', 'X-Forwarded-Host': 'other' };
  const statuses = [];
  for (let i = 0; i < 3; i += 1) statuses.push((await send('/api/a', '203.0.113.9', forged))[0]);
  expect(statuses).toEqual([200, 200, 429]);
});

test('a 403 of the service itself stays a 403', async () => {
  expect(await send('/forbidden', '192.0.2.9')).toEqual([403, null]);
});
