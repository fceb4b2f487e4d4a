import { createHash } from 'node:crypto';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ManualClock, memoryStore } from '@sluice/core';
import { dashboard } from '@sluice/dashboard';
import { closeSluice } from '@sluice/decorators';
import { createApp } from './app.js';
import { routes, target } from './routes.js';

let server: Server;
let url: string;

beforeEach(async () => {
  const store = memoryStore({ clock: new ManualClock() });
  server = createApp(store, dashboard(store, { authorize: () => true })).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(async () => {
  server.closeAllConnections();
  await Promise.all([new Promise((resolve) => server.close(resolve)), closeSluice()]);
});

test('/ is a page with every route and its curl line', async () => {
  const response = await fetch(url);
  const html = await response.text();
  expect([response.status, response.headers.get('Content-Type')]).toEqual([200, 'text/html; charset=utf-8']);
  for (const { method, path, limit, burst } of routes) {
    expect(html).toContain(`data-method="${method}" data-path="${path}"`);
    expect(html).toContain(limit);
    expect(html).toContain(`Send ${burst}`);
  }
  expect(html.match(/curl -si(X POST)? '[^']+'/g)).toEqual(
    routes.map((route) => `curl -si${route.method === 'POST' ? 'X POST' : ''} '${url}${target(route)}'`),
  );
});

test('the page loads nothing from other hosts, and its policy forbids it', async () => {
  const response = await fetch(url);
  const html = await response.text();
  expect(html.match(/<(script|link|img|iframe)\b[^>]*\b(src|href)="(?!data:|limits\/)[^"]*"/g)).toBeNull();
  const policy = response.headers.get('Content-Security-Policy')!;
  expect(policy).toMatch(/^default-src 'none'; connect-src 'self';/);
  for (const [name, text] of [...html.matchAll(/<(style|script)>([\s\S]*?)<\/\1>/g)].map((m) => m.slice(1))) {
    const hash = createHash('sha256').update(text!).digest('base64');
    expect(policy).toContain(`${name}-src 'sha256-${hash}'`);
  }
});

test('the script of the page is valid JavaScript', async () => {
  const [, script] = /<script>([\s\S]*?)<\/script>/.exec(await (await fetch(url)).text())!;
  expect(() => new Function(script!)).not.toThrow();
});

test('one button floods every route', async () => {
  expect(await (await fetch(url)).text()).toMatch(/<button [^>]*id="flood"[^>]*>Flood<\/button>/);
});

test('the live page is beside it', async () => {
  const html = await (await fetch(url)).text();
  expect(html).toContain('<iframe src="limits/"');
  const live = await fetch(`${url}/limits/`);
  expect([live.status, live.headers.get('Content-Security-Policy')]).toEqual([
    200,
    expect.stringContaining("frame-ancestors 'self'"),
  ]);
});
