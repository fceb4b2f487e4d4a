import { fixedWindow } from '@sluice/core';
import express from 'express';
import supertest from 'supertest';
import { rateLimit } from './index.js';

const limit = (key: string) =>
  rateLimit({ policy: fixedWindow({ limit: 1, window: '1h' }), key, validate: false });

test('paths ignore case, unless the routes of the application are case sensitive', async () => {
  const statuses = async (app: express.Express) => {
    app.get('/users/:id', limit('#{path}'), (_request, response) => void response.send('ok'));
    const all = [];
    for (const path of ['/users/ann', '/USERS/ann', '/users/Ann', '/users/ann/']) {
      all.push((await supertest(app).get(path)).status);
    }
    return all;
  };
  expect(await statuses(express())).toEqual([200, 429, 429, 429]);
  expect(await statuses(express().enable('case sensitive routing'))).toEqual([200, 404, 200, 429]);
});

test('a route has the prefix of its router, in any spelling of the client', async () => {
  const app = express();
  const router = express.Router();
  router.get('/users/:id', limit('#{route}'), (_request, response) => void response.send('ok'));
  app.use('/api', router);
  await supertest(app).get('/api/users/1').expect(200);
  await supertest(app).get('/API/users/2').expect(429);
});

test('#{route} before routing is a server error (500)', async () => {
  const app = express();
  app.use(limit('#{route}'));
  const errors: unknown[] = [];
  app.use(((error, _request, response, _next) => {
    errors.push(error);
    response.status(error.status).send('sorry');
  }) satisfies express.ErrorRequestHandler);
  await supertest(app).get('/').expect(500);
  expect(errors).toMatchObject([
    {
      code: 'SLUICE_KEY_RESOLUTION',
      cause: { message: expect.stringContaining('Put the limit on the route') },
    },
  ]);
});
