import type { AddressInfo, Server } from 'node:net';
import Router from '@koa/router';
import { fixedWindow } from '@sluice/core';
import Koa from 'koa';
import supertest from 'supertest';
import { rateLimit } from './index.js';

const hourly = (limit: number) => fixedWindow({ limit, window: '1h' });

let server: Server | undefined;
afterEach((done) => {
  if (server === undefined) done();
  else server.close(done);
  server = undefined;
});

async function serve<S, C>(app: Koa<S, C>) {
  server = app.listen(0, '127.0.0.1');
  await new Promise((resolve) => server!.once('listening', resolve));
  return supertest(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
}

test('routes and routers have their own limits, with parameters in their keys', async () => {
  const inner = new Router();
  inner.get(
    '/items/:item',
    rateLimit({ name: 'item', policy: hourly(1), key: '#{params.shop}/#{params.item}' }),
    (context) => {
      context.body = context.state.rateLimit.name;
    },
  );
  const outer = new Router({ prefix: '/shops/:shop' });
  outer.use(rateLimit({ name: 'shop', policy: hourly(3), key: '#{params.shop}' }));
  outer.use(inner.routes());
  const client = await serve(new Koa().use(outer.routes()));
  await client.get('/shops/a/items/1').expect(200, 'item');
  await client.get('/shops/a/items/1').expect(429);
  await client.get('/shops/a/items/2').expect(200);
  await client
    .get('/shops/a/items/3')
    .expect(429)
    .expect('RateLimit', /^"shop";r=0;t=\d+$/);
  await client.get('/shops/b/items/1').expect(200);
});

test('a limit on several routes counts them together, and leaves other methods unlimited', async () => {
  const router = new Router();
  const limit = rateLimit({ policy: hourly(2) });
  router.get('/a', limit, (context) => {
    context.body = 'a';
  });
  router.get('/b', limit, (context) => {
    context.body = 'b';
  });
  router.post('/a', (context) => {
    context.body = 'posted';
  });
  const client = await serve(new Koa().use(router.routes()).use(router.allowedMethods()));
  await client.get('/a').expect(200);
  await client.head('/b').expect(200);
  await client.get('/b').expect(429);
  await client.post('/a').expect(200);
  await client.options('/a').expect(200);
});
