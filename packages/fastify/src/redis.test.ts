import { redisStore } from '@sluice/core';
import fastify from 'fastify';
import { redisUrl, uniqueName } from '../../../tests/support/redis-url.js';
import { rateLimit } from './index.js';

/** One of several processes: its own app and its own connection. */
async function build(keyPrefix: string) {
  const store = redisStore(redisUrl());
  const app = fastify();
  const window = { max: 2, timeWindow: '1h' } as const;
  await app.register(rateLimit, {
    global: false,
    ...window,
    name: 'all',
    store,
    keyPrefix,
    deadline: '5s',
    ban: 1,
  });
  app.get('/plugin', { onRequest: app.rateLimit() }, async () => 'ok');
  app.get('/hook', { onRequest: app.rateLimit({ name: 'hook', ...window }) }, async () => 'ok');
  app.get('/config', { config: { rateLimit: window } }, async () => 'ok');
  const check = app.createRateLimit({ name: 'check', ...window });
  app.get('/check', async (request, reply) => {
    const result = await check(request);
    if (!result.isAllowed && result.isExceeded) reply.code(result.isBanned ? 403 : 429);
    return request.rateLimit?.source;
  });
  return {
    app,
    close: async () => {
      await app.close();
      await store.close();
    },
  };
}

test.each(['/plugin', '/hook', '/config', '/check'])(
  '%s: processes with one Redis share the limit and the bans',
  async (url) => {
    const keyPrefix = uniqueName('fastify');
    const [one, other] = [await build(keyPrefix), await build(keyPrefix)];
    try {
      const statuses = [];
      for (const { app } of [one, other, one, other, one]) statuses.push((await app.inject(url)).statusCode);
      expect(statuses).toEqual([200, 200, 429, 403, 403]);
    } finally {
      await one.close();
      await other.close();
    }
  },
);
