import fastifyRateLimit from '@fastify/rate-limit';
import { serve } from '@hono/node-server';
import { getConnInfo } from '@hono/node-server/conninfo';
import { fixedWindow, redisStore } from '@sluice/core';
import { rateLimit as sluiceExpress } from '@sluice/express';
import { rateLimit as sluiceFastify } from '@sluice/fastify';
import { rateLimit as sluiceHono } from '@sluice/hono';
import { rateLimit as sluiceKoa } from '@sluice/koa';
import { Rules } from '@sluice/rules';
import express from 'express';
import expressRateLimit from 'express-rate-limit';
import fastify from 'fastify';
import { Hono } from 'hono';
import { RedisStore as HonoRedisStore, rateLimiter } from 'hono-rate-limiter';
import { Redis } from 'ioredis';
import Koa from 'koa';
import koaRateLimit from 'koa-ratelimit';
import { RedisStore } from 'rate-limit-redis';
import { honoClient } from '../lib/hono-client.mjs';

const HOST = '127.0.0.1';

/** The usual limiter of each framework. */
export const PEERS = {
  express: 'express-rate-limit',
  fastify: '@fastify/rate-limit',
  koa: 'koa-ratelimit',
  hono: 'hono-rate-limiter',
};

/**
 * One small service per framework. Each limiter counts requests by address in a window, with defaults for its headers, its key and
 * its response to a denied request. Each function resolves to the port.
 */
export const apps = {
  async express(variant) {
    const app = express();
    if (variant.limiter === 'sluice') app.use(sluiceExpress(sluice(variant)));
    if (variant.limiter === 'written') {
      for (let i = 0; i < variant.routes; i += 1) {
        app.use(`/v1/r${i}`, sluiceExpress({ ...sluice(variant), name: `r${i}` }));
      }
    }
    if (variant.limiter === 'rules') app.use(sluiceExpress({ rules: new Rules(rulesOf(variant)) }));
    if (variant.limiter === 'peer') {
      const client = redis(variant);
      const store =
        client &&
        new RedisStore({
          sendCommand: (command, ...args) => client.call(command, ...args),
          prefix: variant.name,
        });
      app.use(
        expressRateLimit({ windowMs: variant.windowMs, limit: variant.limit, ...(store && { store }) }),
      );
    }
    app.get(['/', '/v1/:route/items'], (_request, response) => {
      response.send('ok');
    });
    return listening(app);
  },

  async fastify(variant) {
    const app = fastify();
    if (variant.limiter === 'sluice') await app.register(sluiceFastify, sluice(variant));
    if (variant.limiter === 'peer') {
      await app.register(fastifyRateLimit, {
        max: variant.limit,
        timeWindow: variant.windowMs,
        redis: redis(variant),
        nameSpace: variant.name,
      });
    }
    app.get('/', async () => 'ok');
    await app.listen({ port: 0, host: HOST });
    return app.server.address().port;
  },

  async koa(variant) {
    const app = new Koa();
    if (variant.limiter === 'sluice') app.use(sluiceKoa(sluice(variant)));
    if (variant.limiter === 'peer') {
      const client = redis(variant);
      app.use(
        koaRateLimit({
          driver: variant.store,
          db: client ?? new Map(),
          max: variant.limit,
          duration: variant.windowMs,
          namespace: variant.name,
        }),
      );
    }
    app.use((context) => {
      context.body = 'ok';
    });
    return listening(app);
  },

  async hono(variant) {
    const app = new Hono();
    if (variant.limiter === 'sluice') app.use(sluiceHono(sluice(variant)));
    if (variant.limiter === 'peer') {
      const client = redis(variant);
      app.use(
        rateLimiter({
          windowMs: variant.windowMs,
          limit: variant.limit,
          keyGenerator: (context) => getConnInfo(context).remote.address,
          ...(client && { store: new HonoRedisStore({ client: honoClient(client), prefix: variant.name }) }),
        }),
      );
    }
    app.get('/', (context) => context.text('ok'));
    return new Promise((resolve) => {
      serve({ fetch: app.fetch, port: 0, hostname: HOST }, ({ port }) => resolve(port));
    });
  },
};

/** Options of our adapters. The deadline is long, so that a busy machine does not trigger the failure policy. */
const sluice = ({ store, limit, windowMs, redis: url, name }) => ({
  name: 'default', // the headers show it, and the other limiters send no name
  keyPrefix: name,
  policy: fixedWindow({ limit, window: windowMs }),
  ...(store === 'redis' && { store: redisStore(url) }),
  deadline: '30s',
});

/** The same limits as a document. */
const rulesOf = ({ routes, limit, windowMs: window }) => ({
  rules: Array.from({ length: routes }, (_, i) => ({
    name: `r${i}`,
    match: { path: `/v1/r${i}/*` },
    limit: { fixedWindow: { limit, window } },
  })),
});

const redis = ({ store, redis: url }) => (store === 'redis' ? new Redis(url) : undefined);

const listening = (app) =>
  new Promise((resolve, reject) => {
    const server = app.listen(0, HOST, () => resolve(server.address().port));
    server.once('error', reject);
  });
