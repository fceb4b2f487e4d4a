import type { FastifyInstance, FastifyPluginAsync, InjectOptions } from 'fastify';
import type { Redis } from 'ioredis';
import type { RedisStore } from '../../../packages/core/src/index.js';
import { uniqueName } from '../../support/redis-url.js';
import { evaluate, SIDES, type Side } from './page.js';

const PAGE = 'fastify-rate-limit';

const apps: FastifyInstance[] = [];
afterEach(() => Promise.all(apps.splice(0).map((app) => app.close())));

async function appOf(side: Side): Promise<FastifyInstance> {
  const { app } = await evaluate<{ app: FastifyInstance }>(PAGE, side, require, ['app']);
  apps.push(app);
  return app;
}

const SAME = ['x-ratelimit-limit', 'x-ratelimit-remaining'];

async function series(app: FastifyInstance, ...requests: (string | InjectOptions)[]) {
  const answers = [];
  for (const request of requests) answers.push(await app.inject(request));
  return answers;
}

test('both sides of the page give the same statuses and counts', async () => {
  const urls = ['/', '/news', '/search', '/search', '/', '/', '/news', '/health', '/health'];
  const seen = async (side: Side) =>
    (await series(await appOf(side), ...urls)).map(({ statusCode, headers, body }) => ({
      statusCode,
      body: statusCode === 200 && body,
      values: SAME.map((name) => `${headers[name]}`),
      retry: 'retry-after' in headers,
    }));
  const [before, after] = [await seen('Before'), await seen('With Sluice')];
  expect(after).toEqual(before);
  expect(after.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 429, 200, 429, 429, 200, 200]);
});

test.each(SIDES)('both sides of the page work in Redis, %s', async (side) => {
  type Values = { app: FastifyInstance; client: Redis; store: RedisStore };
  const names = side === 'Before' ? (['app', 'client'] as const) : (['app', 'store'] as const);
  const replace = { "'api'": `'${uniqueName('api')}'` };
  const { app, client, store } = await evaluate<Values>(PAGE, side, require, names, 'in Redis', replace);
  apps.push(app);
  const answers = await series(app, '/', '/', '/');
  client?.disconnect();
  await store?.close();
  expect(
    answers.map(({ statusCode, headers }) => [statusCode, ...SAME.map((name) => +headers[name]!)]),
  ).toEqual([
    [200, 2, 1],
    [200, 2, 0],
    [429, 2, 0],
  ]);
});

describe('differences that the page names', () => {
  type Answer = Awaited<ReturnType<FastifyInstance['inject']>>;
  test.each<[string, (string | InjectOptions)[], (answers: Answer[]) => unknown, unknown, unknown]>([
    [
      '404s count',
      ['/none', '/none', '/none', '/none'],
      (answers) => answers.map(({ statusCode }) => statusCode),
      [404, 404, 404, 404],
      [404, 404, 404, 429],
    ],
    [
      'HEAD counts with its GET',
      ['/search', { method: 'HEAD', url: '/search' }],
      (answers) => answers.map(({ statusCode }) => statusCode),
      [200, 200],
      [200, 429],
    ],
    [
      'the reset is a Unix time',
      ['/'],
      ([first]) => Number(first!.headers['x-ratelimit-reset']) > 60,
      false,
      true,
    ],
    [
      'the default body',
      ['/search', '/search'],
      ([, denied]) => Object.keys(denied!.json()).sort(),
      ['error', 'message', 'statusCode'],
      ['detail', 'status', 'title', 'type', 'violated-policies'],
    ],
  ])('%s', async (_, requests, read, before, after) => {
    expect(read(await series(await appOf('Before'), ...requests))).toEqual(before);
    expect(read(await series(await appOf('With Sluice'), ...requests))).toEqual(after);
  });

  test('an error handler gets a denial only with throw', async () => {
    const { default: theirs } = await import('@fastify/rate-limit' as string); // its types conflict with ours
    const { rateLimit } = await import('../../../packages/fastify/src/index.js');
    const { fastify } = await import('fastify');
    const statusWith = async (plugin: FastifyPluginAsync<{ max: number }>, options: { throw?: boolean }) => {
      const app = fastify();
      apps.push(app);
      app.setErrorHandler((_error, _request, reply) => reply.code(418).send());
      await app.register(plugin, { max: 1, ...options });
      app.get('/', async () => 'hello');
      return (await series(app, '/', '/'))[1]!.statusCode;
    };
    expect(await statusWith(theirs, {})).toBe(418);
    expect(await statusWith(rateLimit as never, {})).toBe(429);
    expect(await statusWith(rateLimit as never, { throw: true })).toBe(418);
  });
});

test('reports the same denials in front of the old plugin with dryRun', async () => {
  const { default: theirs } = await import('@fastify/rate-limit' as string); // its types conflict with ours
  const { rateLimit } = await import('../../../packages/fastify/src/index.js');
  const { fastify } = await import('fastify');
  const app = fastify();
  apps.push(app);
  const onLimited = jest.fn();
  await app.register(rateLimit, { max: 3, dryRun: true, onLimited });
  await app.register(theirs as FastifyPluginAsync<{ max: number }>, { max: 3 });
  app.get('/', async () => 'hello');
  app.get('/search', { config: { rateLimit: { max: 1 } } }, async () => 'found');
  const answers = await series(app, '/', '/search', '/', '/', '/search', '/');
  const statuses = answers.map(({ statusCode }) => statusCode);
  expect(statuses).toEqual([200, 200, 200, 200, 429, 429]);
  expect(onLimited).toHaveBeenCalledTimes(2);
  expect(answers[0]!.headers).not.toHaveProperty('ratelimit');
});
