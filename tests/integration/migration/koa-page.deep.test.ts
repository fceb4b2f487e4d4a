import type { Redis } from 'ioredis';
import type Koa from 'koa';
import supertest from 'supertest';
import type { RedisStore } from '../../../packages/core/src/index.js';
import { uniqueName } from '../../support/redis-url.js';
import { evaluate, SIDES, type Side } from './page.js';

const PAGE = 'koa-ratelimit';

const agentOf = async (side: Side) =>
  supertest((await evaluate<{ app: Koa }>(PAGE, side, require, ['app'])).app.callback());

test('both sides of the page give the same statuses, bodies, headers and counts', async () => {
  const seen = async (side: Side) => {
    const agent = await agentOf(side);
    const requests: [path: string, key: string][] = [
      ...Array(4).fill(['/', 'ann']),
      ['/health', 'ann'],
      ['/', 'bob'],
      ['/', 'revoked'],
      ['/', ''],
    ];
    const answers = [];
    for (const [path, key] of requests) {
      const { status, text, headers, type } = await agent.get(path).set('X-Api-Key', key);
      const { 'x-ratelimit-limit': limit, 'x-ratelimit-remaining': remaining } = headers;
      const minutes = Math.round((Number(headers['x-ratelimit-reset']) * 1000 - Date.now()) / 60_000);
      answers.push([status, status === 403 || text, status === 403 || type, limit, remaining, minutes]);
    }
    return answers;
  };
  const [before, after] = [await seen('Before'), await seen('With Sluice')];
  expect(after).toEqual(before);
  expect(after.map(([status]) => status)).toEqual([200, 200, 200, 429, 200, 200, 403, 200]);
});

test.each(SIDES)('both sides of the page work in Redis, %s', async (side) => {
  type Values = { app: Koa; client: Redis; store: RedisStore };
  const names = side === 'Before' ? (['app', 'client'] as const) : (['app', 'store'] as const);
  const replace = { "'api'": `'${uniqueName('api')}'` };
  const { app, client, store } = await evaluate<Values>(PAGE, side, require, names, 'in Redis', replace);
  const agent = supertest(app.callback());
  const answers = [];
  for (let at = 0; at < 3; at += 1) {
    const { status, headers } = await agent.get('/');
    answers.push([status, headers['x-ratelimit-limit'], headers['x-ratelimit-remaining']]);
  }
  client?.disconnect();
  await store?.close();
  expect(answers).toEqual([
    [404, '2', '1'],
    [404, '2', '0'],
    [429, '2', '0'],
  ]);
});

describe('differences that the page names', () => {
  test.each<[Side, boolean]>([
    ['Before', false],
    ['With Sluice', true],
  ])('%s sends standard headers: %p', async (side, standard) => {
    const { headers } = await (await agentOf(side)).get('/').expect(200);
    expect('ratelimit' in headers).toBe(standard);
  });

  test('Retry-After is rounded up, not down', async () => {
    const { default: theirs } = await import('koa-ratelimit' as string);
    const { default: ours } = await import('../../../packages/koa/src/index.js');
    const { default: KoaServer } = await import('koa');
    const retryAfter = async (limit: Koa.Middleware) => {
      const agent = supertest(new KoaServer().use(limit).callback());
      for (;;) {
        const { status, headers } = await agent.get('/');
        if (status === 429) return headers['retry-after']; // otherwise the window ended between two requests
      }
    };
    const half = { max: 1, duration: 500 };
    expect(await retryAfter(theirs({ ...half, driver: 'memory', db: new Map() }))).toBe('0');
    expect(await retryAfter(ours({ ...half, validate: false }))).toBe('1');
  });

  test('a limit in memory without db counts nothing with koa-ratelimit', async () => {
    const { default: theirs } = await import('koa-ratelimit' as string);
    const { default: ours } = await import('../../../packages/koa/src/index.js');
    const { default: KoaServer } = await import('koa');
    const statuses = async (limit: Koa.Middleware) => {
      const agent = supertest(new KoaServer().use(limit).callback());
      return [(await agent.get('/')).status, (await agent.get('/')).status];
    };
    expect(await statuses(theirs({ driver: 'memory', max: 1 }))).toEqual([404, 404]);
    expect(await statuses(ours({ max: 1 }))).toEqual([404, 429]);
  });

  test('a missing key is an error on both sides, and skip replaces a key of false', async () => {
    const { default: theirs } = await import('koa-ratelimit' as string);
    const { default: ours } = await import('../../../packages/koa/src/index.js');
    const { default: KoaServer } = await import('koa');
    const statuses = async (limit: Koa.Middleware) => {
      const app = new KoaServer();
      app.silent = true;
      const agent = supertest(app.use(limit).callback());
      return [(await agent.get('/')).status, (await agent.get('/free')).status];
    };
    const none = () => undefined as never;
    const id = ({ path }: Koa.Context) => (path === '/free' ? false : none());
    expect(await statuses(theirs({ driver: 'memory', db: new Map(), id }))).toEqual([500, 404]);
    const skip = ({ path }: Koa.Context) => path === '/free';
    expect(await statuses(ours({ max: 1, keyGenerator: none, skip, validate: false }))).toEqual([500, 404]);
  });
});
