import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { memoryStore } from '@sluice/core';
import { type ServedDashboard, serveDashboard } from './index.js';

const store = memoryStore();
let served: ServedDashboard;

beforeEach(async () => {
  served = await serveDashboard(store);
});
afterEach(() => served.close());

const open = (url: string, headers: Record<string, string> = {}) =>
  fetch(url, { headers, redirect: 'manual' });

test('the address works once, for the browser that opened it', async () => {
  const { origin, pathname } = new URL(served.url);
  expect(origin).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect((await open(origin + pathname)).status).toBe(401);
  expect((await open(`${origin}${pathname}?token=wrong`)).status).toBe(401);

  const first = await open(served.url);
  expect([first.status, first.headers.get('Location')]).toEqual([303, pathname]);
  const given = first.headers.get('Set-Cookie')!;
  expect(given).toMatch(new RegExp(`^sluice=[\\w-]{43}; Path=${pathname}; HttpOnly; SameSite=Strict$`));
  expect(first.headers.get('Cache-Control')).toBe('no-store');
  expect((await open(served.url)).status).toBe(401);

  const [cookie] = given.split(';') as [string];
  const page = await open(origin + pathname, { Cookie: `other=1; ${cookie}` });
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<title>Sluice')]);
  expect((await open(origin + pathname, { Cookie: `${cookie}x` })).status).toBe(401);
});

test('a request with a foreign host does not use up the token', async () => {
  const { port, pathname, search } = new URL(served.url);
  const headers = { Host: 'evil.example' };
  const sent = request({ host: '127.0.0.1', port, path: pathname + search, headers }).end();
  const [response] = await once(sent, 'response');
  expect(response.resume().statusCode).toBe(421);
  expect((await open(served.url)).status).toBe(303);
});

test.each([
  'TRACE / HTTP/1.1',
  'CONNECT 127.0.0.1:80 HTTP/1.1',
  'OPTIONS * HTTP/1.1',
  'GET http://[::1/ HTTP/1.1',
  'GET //%zz HTTP/1.1',
])('%s without a token does not stop the server', async (line) => {
  const socket = connect(Number(new URL(served.url).port), '127.0.0.1');
  socket.end(`${line}\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`);
  const text = (await socket.toArray()).join('');
  expect(text).toMatch(/^(?:HTTP\/1\.1 40[015] |$)/);
  expect((await open(served.url)).status).toBe(303);
});

test('serveDashboard rejects a port in use and an invalid port', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await expect(serveDashboard(store, { port })).rejects.toThrow('EADDRINUSE');
  await expect(serveDashboard(store, { port: 70_000 })).rejects.toThrow(/port must be/);
  server.close();
});
