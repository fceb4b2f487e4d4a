import fastify from 'fastify';
import { rateLimit } from './index.js';

/** What programs write once for several routes, and use again in each app that they build. */
const config = { rateLimit: { max: 1, timeWindow: '1h' } } as const;

async function build() {
  const app = fastify();
  await app.register(rateLimit, { global: false });
  for (const url of ['/a', '/b']) app.get(url, { config }, async () => url);
  const status = async (url: string, method: 'GET' | 'HEAD' = 'GET') =>
    (await app.inject({ url, method })).statusCode;
  return { status, close: () => app.close() };
}

test('routes that share their configuration count by themselves, HEAD with its GET', async () => {
  const { status, close } = await build();
  expect([await status('/a'), await status('/a', 'HEAD')]).toEqual([200, 429]);
  expect([await status('/b', 'HEAD'), await status('/b')]).toEqual([200, 429]);
  await close();
});

test('an app that is built again has limits of its own, that are open', async () => {
  const first = await build();
  expect([await first.status('/a'), await first.status('/a')]).toEqual([200, 429]);
  const second = await build();
  await first.close();
  expect([await second.status('/a'), await second.status('/a')]).toEqual([200, 429]);
  await second.close();
});

test('a route that came before the plugin is an error also when a later one has the same configuration', async () => {
  const app = fastify();
  app.get('/early', { config }, async () => 'early');
  await app.register(rateLimit, { global: false });
  app.get('/late', { config }, async () => 'late');
  expect((await app.inject('/late')).statusCode).toBe(200);
  expect((await app.inject('/early')).statusCode).toBe(500);
  await app.close();
});
