import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { memoryStore } from '@sluice/core';
import { Rules } from '@sluice/rules';
import { type ServedRules, serve } from '@sluice/serve';
import { type Caddy, startCaddy } from '../../support/caddy.js';

const page = readFileSync(resolve(__dirname, '../../../docs/serve.md'), 'utf8');
const [, site] = /^```text\nshop\.example \{\n([\s\S]*?)^\}\n```$/m.exec(page)!;

const RULES = `
rules:
  - { name: api, match: { path: /api/*, method: POST }, limit: { fixedWindow: { limit: 2, window: 1h } } }
  - { name: key, match: { path: /keys/* }, key: "#{headers['x-api-key']}", limit: { fixedWindow: { limit: 1, window: 1h } } }
`;
const store = memoryStore();
let rules: Rules;
let served: ServedRules;
let service: Server;
let caddy: Caddy;

beforeAll(async () => {
  rules = new Rules(RULES, { store });
  served = await serve(rules, { port: 0, grpcPort: 0 });
  service = createServer((request, response) => {
    response.statusCode = request.url === '/forbidden' ? 403 : 200;
    response.end('served');
  });
  await new Promise<void>((done) => service.listen(0, '127.0.0.1', done));
  const text = site!
    .replace('127.0.0.1:3000', `127.0.0.1:${(service.address() as AddressInfo).port}`)
    .replace('127.0.0.1:8080', `127.0.0.1:${served.port}`);
  caddy = await startCaddy(text);
}, 300_000);
afterAll(async () => {
  await caddy?.stop();
  service?.closeAllConnections();
  service?.close();
  await served?.close();
  await rules?.close();
  await store.close();
});

const send = (path: string, headers: Record<string, string> = {}) =>
  fetch(caddy.url + path, { method: 'POST', body: 'x'.repeat(1_000), headers });

test('behind Caddy with the recipe, a denial is a 429 that says when to come back, whatever the client writes', async () => {
  const statuses = [];
  for (let i = 0; i < 3; i += 1) {
    const forged = { 'X-Forwarded-Uri': '/free', 'X-Forwarded-Method': 'GET', 'X-Forwarded-Host': 'other' };
    const response = await send('/api/a?denied=200', { ...forged, 'X-Forwarded-For': `192.0.2.${i}` });
    statuses.push(response.status);
    if (response.status !== 429) continue;
    expect(Number(response.headers.get('Retry-After'))).toBeGreaterThan(3_000);
    expect(response.headers.get('RateLimit')).toMatch(/^"rules\.api";r=0;t=3\d{3}$/);
    expect(await response.json()).toMatchObject({ title: 'Too Many Requests', status: 429 });
  }
  expect(statuses).toEqual([200, 200, 429]);
  expect(await (await send('/other')).text()).toBe('served');
});

test('rules see the headers of the request', async () => {
  const statuses = [];
  for (const key of ['a', 'a', 'b']) statuses.push((await send('/keys/1', { 'X-API-Key': key })).status);
  expect(statuses).toEqual([200, 429, 200]);
});

test('a 403 of the service itself stays a 403', async () => {
  expect((await send('/forbidden')).status).toBe(403);
});
