import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import express from 'express';
import express4 from 'express-4';
import { RateLimiter, redisStore } from '../../packages/core/src/index.js';
import { rateLimit } from '../../packages/express/src/index.js';
import { Rules } from '../../packages/rules/src/index.js';
import { RawClient } from '../contracts/adapters/clients.js';
import { hourly, onEachAdapter } from '../contracts/adapters/on-each-framework.js';
import { redisUrl, uniqueName } from '../support/redis-url.js';

// Published vulnerabilities of other rate limiters and of related packages, tried on ours.

const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

onEachAdapter(
  ({ start, url, needs, headerOf }) => {
    needs('trustProxy').each([32, 56, 64, 80, 128])(
      'CVE-2026-30827, GHSA-46wh-pxpv-q5gq: IPv4-mapped clients of a /%d each have their own count',
      async (ipv6Subnet) => {
        const client = await start({ trustProxy: true, limits: [{ policy: hourly(1), ipv6Subnet }] });
        const from = async (address: string) =>
          (await client.get('/').set('X-Forwarded-For', address)).status;
        for (const status of [200, 429]) expect(await from('::ffff:192.0.2.1')).toBe(status);
        expect(await from('::ffff:c000:202')).toBe(200);
        expect(await from('192.0.2.2')).toBe(429);
        expect(await from('::ffff:198.51.100.1')).toBe(200);
      },
    );

    test('CVE-2025-71399: /path and //path have one count, by path and by rule', async () => {
      const match = { path: '/sign-in/email' };
      const limit = { fixedWindow: { limit: 4, window: '1h' } };
      const rules = new Rules({ rules: [{ name: 'login', match, limit }] });
      const byPath = {
        policy: hourly(3),
        key: '#{path}',
        skip: (request: unknown) => headerOf(request, 'x-rule') !== undefined,
      };
      await start({ limits: [byPath, { rules }] });
      const ask = async (path: string, headers = {}) => {
        const client = new RawClient(url());
        client.send(path, { Connection: 'close', ...headers });
        return Number((await client.closed()).slice(9, 12));
      };
      for (const path of ['/sign-in/email', '//sign-in/email', '///sign-in//email/'])
        expect(await ask(path)).toBe(200);
      expect(await ask('////sign-in/email')).toBe(429);
      expect(await ask('//sign-in/email', { 'x-rule': 'only' })).toBe(200);
      expect(await ask('/sign-in///email', { 'x-rule': 'only' })).toBe(429);
      await rules.close();
    });
  },
  ['memory'],
);

test.each([
  ['Express 4', express4],
  ['Express 5', express],
])('GHSA-wc8c-qw6v-h7f6: an encoded slash does not bypass the rule of a file, %s', async (_, create) => {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-static-'));
  await mkdir(join(folder, 'admin'));
  await writeFile(join(folder, 'admin', 'secret.html'), 'secret');
  const rules = new Rules({
    rules: [
      { name: 'admin', match: { path: '/admin/*' }, limit: { fixedWindow: { limit: 100, window: '1h' } } },
    ],
  });
  opened.push(
    () => rm(folder, { recursive: true }),
    () => rules.close(),
  );
  const app = create();
  app.use(rateLimit({ rules }), create.static(folder));
  const server = app.listen(0, '127.0.0.1');
  opened.push(() => new Promise((resolve) => server.close(resolve)));
  const { port } = await new Promise<AddressInfo>((resolve) =>
    server.once('listening', () => resolve(server.address() as AddressInfo)),
  );
  const paths = [
    '/admin/secret.html',
    '/admin%2Fsecret.html',
    '/admin%2fsecret.html',
    '/%2Fadmin%2Fsecret.html',
    '/x%2F..%2Fadmin/secret.html',
    '/%61dmin%2Fsecret%2Ehtml?x#y',
  ];
  for (const [i, path] of paths.entries()) {
    const ask = { host: '127.0.0.1', port, path, agent: false };
    const response = await new Promise<IncomingMessage>((resolve) => get(ask, resolve));
    expect([path, (await response.toArray()).join('')]).toEqual([path, 'secret']);
    expect(response.headers.ratelimit).toContain(`r=${99 - i};`);
  }
});

test('CVE-2026-110861: clients of one store that call at the same moment share exactly the limit', async () => {
  const keyPrefix = uniqueName('advisory');
  const limiters = Array.from({ length: 4 }, () => {
    const store = redisStore(redisUrl());
    return {
      store,
      limiter: new RateLimiter({ name: 'sign-in', policy: hourly(5), store, keyPrefix, deadline: '10s' }),
    };
  });
  const calls = limiters.flatMap(({ limiter }) => Array.from({ length: 50 }, () => limiter.consume('ann')));
  const decisions = await Promise.all(calls);
  expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(5);
  for (const { limiter, store } of limiters) {
    await limiter.close();
    await store.close();
  }
});
