import { fixedWindow, redisStore } from '@sluice/core';
import fastify from 'fastify';
import { eventually, OwnRedis } from '../../../tests/faults/own-redis.js';
import { rateLimit } from './index.js';

const redis = new OwnRedis();
const policy = fixedWindow({ limit: 1, window: '1h' });
const connected = async () => String(await redis.client().client('LIST')).includes('name=sluice');

test.each([
  ['of the plugin', { name: 'everywhere', policy, deadline: '30s' }, undefined],
  ['of a route', {}, { name: 'one', policy, deadline: '30s' }],
])('the store %s is connected when the server is ready', async (_what, options, rateLimitOfRoute) => {
  const store = redis.open(redisStore(redis.server.url));
  const app = redis.open(fastify());
  await app.register(rateLimit, { ...options, ...(rateLimitOfRoute === undefined && { store }) });
  const config = rateLimitOfRoute && { rateLimit: { ...rateLimitOfRoute, store } };
  app.get('/', { ...(config && { config }) }, async () => 'hello');
  expect(await connected()).toBe(false);
  await app.ready();
  expect(await connected()).toBe(true);
  expect((await app.inject('/')).statusCode).toBe(200);
  expect((await app.inject('/')).statusCode).toBe(429);
});

test('a server starts without its Redis, and uses it once it is reachable', async () => {
  await redis.server.kill();
  const store = redis.open(redisStore(redis.server.url));
  const failed = new Promise((resolve) => store.on('storeError', resolve));
  const app = redis.open(fastify());
  await app.register(rateLimit, { name: 'api', policy: fixedWindow({ limit: 1_000, window: '1h' }), store });
  app.get('/', async (request) => request.rateLimit?.source);
  await app.ready();
  expect(await failed).toMatchObject({ reason: 'connection' });
  expect((await app.inject('/')).body).toBe('local');
  await redis.server.restart();
  await eventually(async () => expect((await app.inject('/')).body).toBe('redis'));
});
