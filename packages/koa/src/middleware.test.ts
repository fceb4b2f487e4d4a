import type { AddressInfo, Server } from 'node:net';
import { fixedWindow } from '@sluice/core';
import Koa, { type DefaultContext, type DefaultState, type ParameterizedContext } from 'koa';
import supertest from 'supertest';
import { type RateLimitOptions, rateLimit } from './index.js';

const hourly = (limit: number) => fixedWindow({ limit, window: '1h' });

let server: Server | undefined;
afterEach((done) => {
  if (server === undefined) done();
  else server.close(done);
  server = undefined;
});

async function serve<S, C>(app: Koa<S, C>) {
  app.silent = true;
  server = app.listen(0, '127.0.0.1');
  await new Promise((resolve) => server!.once('listening', resolve));
  return supertest(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
}

const limited = (options: RateLimitOptions) =>
  serve(
    new Koa().use(rateLimit(options)).use((context) => {
      context.body = `${context.state.rateLimit?.remaining} left`;
    }),
  );

test.each<[string, RateLimitOptions, string]>([
  ['max and duration', { max: 1, duration: 5000 }, '"default";q=1;w=5'],
  ['max alone: in an hour', { max: 1 }, '"default";q=1;w=3600'],
  ['a duration as text', { max: 1, duration: '1d' }, '"default";q=1;w=86400'],
  ['a function', { max: async () => 1, duration: 5000 }, '"default";q=1;w=5'],
])('accepts the option names of koa-ratelimit: %s', async (_, options, policy) => {
  const client = await limited(options);
  await client.get('/').expect(200, '0 left').expect('RateLimit-Policy', policy);
  await client.get('/').expect(429);
});

test.each<[object, RegExp]>([
  [{ duration: 1000 }, /duration needs max/],
  [{ max: 1, policy: hourly(1) }, /pass max or policy, not both/],
  [{ max: -1 }, /limit must be .* not -1/],
  [{ max: 1, duration: 'soon' }, /"soon"/],
  [{ max: 1, id: () => 'x' }, /no option 'id': pass keyGenerator, and skip instead of returning false/],
  [
    { max: 1, driver: 'memory', db: new Map() },
    /no option 'driver': omit it, or pass store: redisStore\(client\)/,
  ],
  [{ max: 1, db: new Map() }, /no option 'db': omit it, or pass store/],
  [{ max: 1, whitelist: () => true }, /no option 'whitelist': pass allowList/],
  [{ max: 1, errorMessage: 'no' }, /no option 'errorMessage': pass message/],
  [{ max: 1, disableHeader: true }, /no option 'disableHeader': pass legacyHeaders and standardHeaders/],
  [{ max: 1, handler: 5 }, /handler must be a function, not 5/],
  [{ max: 1, handler: () => {}, throw: true }, /throw has no effect with handler/],
  [{}, /rateLimit needs a policy/],
])('rejects the options %j', (options, message) => {
  expect(() => rateLimit(options as RateLimitOptions)).toThrow(message);
});

test('a skipped request has no decision in its state', async () => {
  const client = await limited({ max: 1, skip: (context) => context.path === '/free' });
  await client.get('/free').expect(200, 'undefined left');
  await client.get('/').expect(200, '0 left');
});

test('a handler can respond or call next', async () => {
  const client = await limited({
    max: 1,
    handler: async (context, next, decision) => {
      if (context.get('x-vip') === 'yes') return next();
      context.status = 420;
      context.body = `come back in ${decision.retryAfter / 1000} s`;
    },
  });
  await client.get('/').expect(200);
  const { text } = await client.get('/').expect(420);
  expect(text).toMatch(/^come back in \d+/);
  await client.get('/').set('x-vip', 'yes').expect(200, '0 left');
});

test("with throw, a middleware that catches the error and sets a body responds with the denial's status", async () => {
  const app = new Koa();
  app.use(async (context, next) => {
    try {
      await next();
    } catch (error) {
      context.body = (error as Error).name;
    }
  });
  app.use(rateLimit({ max: 1, throw: true, denyList: ['banned'], keyGenerator: (c) => c.get('x-key') }));
  app.use((context) => {
    context.body = 'served';
  });
  const client = await serve(app);
  const as = (key: string) => client.get('/').set('x-key', key);
  await as('a').expect(200, 'served');
  await as('a').expect(429, 'RateLimitExceededError');
  await as('banned').expect(403, 'RequestForbiddenError');
});

test('with throw, the error that a middleware catches has its status and headers', async () => {
  const caught: unknown[] = [];
  const app = new Koa();
  app.use(async (_context, next) => {
    try {
      await next();
    } catch (error) {
      caught.push(error);
      throw error;
    }
  });
  app.use(rateLimit({ max: 1, throw: true, statusCode: 503 }));
  app.use((context) => {
    context.body = 'ok';
  });
  const client = await serve(app);
  await client.get('/').expect(200);
  const { headers } = await client.get('/').expect(503);
  expect(headers['retry-after']).toMatch(/^(?:3600|3599)$/);
  expect(headers.ratelimit).toMatch(/^"default";r=0;t=(?:3600|3599)$/);
  expect(caught).toMatchObject([{ code: 'SLUICE_RATE_LIMIT_EXCEEDED', status: 503, expose: true }]);
});

interface AppState extends DefaultState {
  tenant: string;
}
interface AppProperties extends DefaultContext {
  plan(): 'free' | 'premium';
}
type AppContext = ParameterizedContext<AppState, AppProperties>;

test("functions receive the program's context, with its types", async () => {
  const app = new Koa<AppState, AppProperties>();
  app.context.plan = () => 'premium';
  app.use((context, next) => {
    context.state.tenant = context.get('x-tenant');
    return next();
  });
  app.use(
    rateLimit<AppContext>({
      policy: ({ plan }) => hourly(plan() === 'premium' ? 2 : 1),
      keyGenerator: ({ state }) => state.tenant,
      onLimited: ({ state }, { name }) => `${state.tenant} ${name}`,
    }),
  );
  app.use((context) => {
    context.body = context.state.tenant;
  });
  const client = await serve(app);
  await client.get('/').set('x-tenant', 'a').expect(200, 'a');
  await client.get('/').set('x-tenant', 'a').expect(200);
  await client.get('/').set('x-tenant', 'a').expect(429);
  await client.get('/').set('x-tenant', 'b').expect(200);
});
