import fastify from 'fastify';
import { rateLimit } from './index.js';

/** A configuration that programs write once for several routes, and use again in each app that they build. */
const config = { rateLimit: { max: 1, timeWindow: '1h' } } as const;

async function build() {
  const app = fastify();
  await app.register(rateLimit, { global: false });
  for (const url of ['/a', '/b']) app.get(url, { config }, async () => url);
  const status = async (url: string, method: 'GET' | 'HEAD' = 'GET') =>
    (await app.inject({ url, method })).statusCode;
  return { status, close: () => app.close() };
}

test('routes that share a configuration object count separately, HEAD with its GET', async () => {
  const { status, close } = await build();
  expect([await status('/a'), await status('/a', 'HEAD')]).toEqual([200, 429]);
  expect([await status('/b', 'HEAD'), await status('/b')]).toEqual([200, 429]);
  await close();
});

test('an app built again has limits of its own, which stay open when the first app closes', async () => {
  const first = await build();
  expect([await first.status('/a'), await first.status('/a')]).toEqual([200, 429]);
  const second = await build();
  await first.close();
  expect([await second.status('/a'), await second.status('/a')]).toEqual([200, 429]);
  await second.close();
});

test('a route added before the plugin responds 500 also if a later route shares its configuration', async () => {
  const app = fastify();
  app.get('/early', { config }, async () => 'early');
  await app.register(rateLimit, { global: false });
  app.get('/late', { config }, async () => 'late');
  expect((await app.inject('/late')).statusCode).toBe(200);
  expect((await app.inject('/early')).statusCode).toBe(500);
  await app.close();
});
