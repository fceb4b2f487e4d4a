import { fixedWindow, ManualClock, memoryStore, RateLimiter } from '@sluice/core';
import express, { type ErrorRequestHandler, type RequestHandler } from 'express';
import supertest from 'supertest';
import { rateLimit, rateLimitErrors } from './index.js';

const hourly = (limit: number) => fixedWindow({ limit, window: '1h' });
/** Its clock does not advance, so headers show the same seconds on a slow machine. */
const stillStore = () => memoryStore({ clock: new ManualClock() });
const ok: RequestHandler = (_request, response) => {
  response.send('ok');
};

const limiters: RateLimiter[] = [];
afterEach(async () => {
  for (const limiter of limiters.splice(0)) await limiter.close();
});

/** A handler that one call passes. */
function once(): RequestHandler {
  const limiter = new RateLimiter({ name: 'inner', policy: hourly(1), store: stillStore() });
  limiters.push(limiter);
  return async (_request, response) => {
    await limiter.acquire('k', { timeout: 0 });
    response.send('ok');
  };
}

describe('rateLimitErrors', () => {
  test('responds to a thrown error, and merges its headers with those of the limits', async () => {
    const app = express();
    app.use(rateLimit({ name: 'all', policy: hourly(9), store: stillStore() }), once());
    app.use(rateLimitErrors());
    await supertest(app).get('/').expect(200);
    await supertest(app)
      .get('/')
      .set('Accept', 'text/plain')
      .expect(429, 'Too Many Requests\nTry again in 3600 s.\n')
      .expect('Retry-After', '3600')
      .expect('RateLimit', /^"all";r=7;t=3600, "inner";r=0;t=3600$/)
      .expect('RateLimit-Policy', '"all";q=9;w=3600, "inner";q=1;w=3600');
  });

  test('passes other errors on', async () => {
    const seen: unknown[] = [];
    const app = express();
    app.use(() => {
      throw Object.assign(new Error('tea'), { status: 418 });
    });
    const last: ErrorRequestHandler = (error, _request, response, _next) => {
      seen.push(error.message);
      response.sendStatus(error.status);
    };
    app.use(rateLimitErrors(), last);
    await supertest(app).get('/').expect(418);
    expect(seen).toEqual(['tea']);
  });

  test('leaves a response that has begun unchanged', async () => {
    const limiter = new RateLimiter({ name: 'inner', policy: hourly(1), store: stillStore() });
    limiters.push(limiter);
    await limiter.consume('k');
    const app = express();
    app.get('/', async (_request, response) => {
      response.write('begun');
      await limiter.acquire('k', { timeout: 0 });
    });
    const seen: unknown[] = [];
    const last: ErrorRequestHandler = (error, _request, response, _next) => {
      seen.push(error.code);
      response.end();
    };
    app.use(rateLimitErrors(), last);
    await supertest(app).get('/').expect(200, 'begun');
    expect(seen).toEqual(['SLUICE_RATE_LIMIT_EXCEEDED']);
  });
});

describe('the option handler', () => {
  test('can call next, after the headers are set, and receives the decision', async () => {
    const decided: unknown[] = [];
    const app = express();
    app.use(
      rateLimit({
        name: 'handled',
        policy: hourly(1),
        store: stillStore(),
        handler: (_request, _response, next, decision) => {
          decided.push(decision.allowed);
          next();
        },
      }),
      ok,
    );
    await supertest(app).get('/').expect(200);
    await supertest(app).get('/').expect(200, 'ok').expect('Retry-After', '3600');
    expect(decided).toEqual([false]);
  });

  test('can call next with an error', async () => {
    const app = express();
    app.use(rateLimit({ policy: hourly(1), handler: (_q, _r, next) => next(new Error('mine')) }), ok);
    const last: ErrorRequestHandler = (error, _request, response, _next) => {
      response.status(420).send(error.message);
    };
    app.use(last);
    await supertest(app).get('/').expect(200);
    await supertest(app).get('/').expect(420, 'mine');
  });

  test('is not called for a request on the denyList', async () => {
    const handler = jest.fn();
    const app = express();
    app.use(rateLimit({ policy: hourly(1), denyList: () => true, handler }), ok);
    await supertest(app).get('/').expect(403);
    expect(handler).not.toHaveBeenCalled();
  });
});

test('a limit of a router reads the parameters of the routers above it', async () => {
  const router = express.Router({ mergeParams: true });
  router.use(rateLimit({ name: 'shop', policy: hourly(1), key: '#{params.shop}|#{path}' }));
  router.get('/items', ok);
  const app = express();
  app.use('/shops/:shop', router);
  app.use(ok);
  await supertest(app).get('/shops/a/items').expect(200);
  await supertest(app).get('/shops/a/items').expect(429);
  await supertest(app).get('/shops/b/items').expect(200);
  await supertest(app).get('/elsewhere').expect(200);
});
