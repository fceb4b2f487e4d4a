import { createHash } from 'node:crypto';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ManualClock, memoryStore } from '@sluice/core';
import { closeSluice } from '@sluice/decorators';
import { createApp } from './app.js';
import { routes, target } from './routes.js';

let server: Server;
let url: string;

beforeEach(async () => {
  server = createApp(memoryStore({ clock: new ManualClock() })).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(async () => {
  server.closeAllConnections();
  await Promise.all([new Promise((resolve) => server.close(resolve)), closeSluice()]);
});

/** Reads a stream of server-sent events, one after the other. */
async function events() {
  const stop = new AbortController();
  const response = await fetch(`${url}/decisions`, { signal: stop.signal });
  expect(response.headers.get('Content-Type')).toBe('text/event-stream');
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  return {
    stop: () => stop.abort(),
    /** The data of the next event with this name. */
    async next(name: string): Promise<unknown> {
      for (;;) {
        const end = text.indexOf('\n\n');
        if (end === -1) {
          const { value, done } = await reader.read();
          if (done) throw new Error(`the stream ended before ${name}`);
          text += value;
          continue;
        }
        const [, event, data] = /^event: (.*)\ndata: (.*)$/.exec(text.slice(0, end)) ?? [];
        text = text.slice(end + 2);
        if (event === name) return JSON.parse(data!);
      }
    },
  };
}

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
  expect(html.match(/<(script|link|img|iframe)\b[^>]*\b(src|href)="(?!data:)[^"]*"/g)).toBeNull();
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

test('decisions arrive as they are made, and a later page gets the recent ones', async () => {
  const early = await events();
  expect(await early.next('store')).toBe('the memory of this process');
  const asked: [string, string][] = [
    ['GET', '/limiter/rate'],
    ['GET', '/limiter/rate'],
    ['POST', '/sms/count'],
  ];
  for (const [method, path] of asked) await fetch(url + path, { method });
  const expected = [
    { id: 1, method: 'GET', url: '/limiter/rate', status: 200, at: expect.any(Number) },
    { id: 2, method: 'GET', url: '/limiter/rate', status: 429, retryAfter: 5, at: expect.any(Number) },
    { id: 3, method: 'POST', url: '/sms/count', status: 400, at: expect.any(Number) },
  ];
  const late = await events();
  for (const stream of [early, late]) {
    for (const record of expected) expect(await stream.next('decision')).toEqual(record);
    stream.stop();
  }
});

test('requests for the page and its stream are not listed', async () => {
  const stream = await events();
  await fetch(url);
  (await events()).stop();
  await fetch(`${url}/hello`);
  expect(await stream.next('decision')).toMatchObject({ id: 1, url: '/hello' });
  stream.stop();
});
