import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { configureSluice } from '@sluice/decorators';
import { createExpressServer } from 'routing-controllers';
import { agent } from 'supertest';
import { controllers, runs } from './controllers.legacy.js';
import { None, servers } from './servers.legacy.js';

const open: Server[] = [];

/** A real server on a free port. */
async function start(listener: unknown) {
  const server = createServer(listener as RequestListener);
  open.push(server);
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return agent(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
}

beforeEach(() => {
  configureSluice();
  runs.length = 0;
});

afterEach(async () => {
  for (const server of open.splice(0)) {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  }
});

describe.each(Object.entries(servers))('routing-controllers by %s', (_, serve) => {
  let client: ReturnType<typeof agent>;

  beforeEach(async () => {
    client = await start(serve({ controllers, validation: true, classTransformer: true }));
  });

  test.each(['above', 'below'])(
    'a limit %s @Get keeps the route and answers a denial with a 429',
    async (place) => {
      await client.get(`/orders/${place}?page=3`).expect(200, { page: 3 });
      await client
        .get(`/orders/${place}?page=3`)
        .expect(429)
        .expect('Retry-After', /^(?:60|5\d)$/)
        .expect('RateLimit', /;r=0;t=(?:60|5\d)$/);
      expect(runs).toEqual([place]);
    },
  );

  test('keys find injected parameters, and other errors pass unchanged', async () => {
    await client.get('/orders/number/1').expect(200, { id: 1 });
    await client.get('/orders/number/2').expect(200, { id: 2 });
    await client.get('/orders/number/1').expect(429);
    await client.get('/orders/number/404').expect(404);
    await client.get('/orders/number/404').expect(429);
  });

  test('all limits on a handler apply', async () => {
    await client.delete('/orders/code/138').expect(200, { phone: '138' });
    await client.delete('/orders/code/138').expect(429);
    await client.delete('/orders/code/139').expect(200);
  });

  test('bodies are created and validated before the limit, and interceptors run after it', async () => {
    const letter = (to: string) => client.post('/orders/letters').send({ to });
    await letter('nobody').expect(400);
    await letter('ann@example.com').expect(200, { data: { to: 'ann@example.com' } });
    await letter('ann@example.com').expect(429);
    await letter('bob@example.com').expect(200);
    expect(runs).toEqual(['letter true', 'interceptor', 'letter true', 'interceptor']);
  });

  test.each([
    ['above-class', 'own'],
    ['below-class', 'other'],
  ])('a limit of the class, %s, limits each method by itself', async (path, other) => {
    await client.get(`/${path}/list`).expect(200, { list: true });
    await client.get(`/${path}/list`).expect(200);
    await client
      .get(`/${path}/list`)
      .expect(429)
      .expect('Retry-After', /^(?:60|5\d)$/);
    await client.get(`/${path}/${other}`).expect(200, { [other]: true });
  });

  test('a method can have its own limit, or skip the limit of the class', async () => {
    await client.get('/above-class/own').expect(200);
    await client.get('/above-class/own').expect(429);
    for (let i = 0; i < 4; i++) await client.get('/above-class/health').expect(200, { health: 'up' });
  });

  test('a service that a handler calls can use the address, the user and the body', async () => {
    const mail = (method: string, user: string, to: string) =>
      client.post(`/mail/${method}`).set('x-user', user).send({ to });
    await mail('byAddress', 'ann', 'x').expect(200, { sent: 'byAddress' });
    await mail('byAddress', 'bob', 'y').expect(429);
    await mail('byUser', 'ann', 'x').expect(200);
    await mail('byUser', 'bob', 'x').expect(200);
    await mail('byUser', 'ann', 'y').expect(429);
    await mail('byBody', 'ann', 'x').expect(200);
    await mail('byBody', 'ann', 'y').expect(200);
    await mail('byBody', 'bob', 'x').expect(429);
    await client.post('/mail/byBody').send({}).expect(400);
  });
});

test('the default error handler of routing-controllers uses only httpCode, and no headers', async () => {
  const client = await start(createExpressServer({ controllers, middlewares: [None] }));
  await client.get('/orders/above?page=1').expect(200);
  const { headers } = await client.get('/orders/above?page=1').expect(500);
  expect(headers).not.toHaveProperty('retry-after');
});
