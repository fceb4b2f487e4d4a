import { join } from 'node:path';
import supertest from 'supertest';
import { startRedis } from '../../support/redis/redis-server.js';
import { testClient } from '../../support/redis/test-client.js';
import { redisUrl, uniqueName } from '../../support/redis-url.js';
import { compile, NestApp } from './nest-app.js';

let compiled: Awaited<ReturnType<typeof compile>>;
beforeAll(async () => {
  compiled = await compile(join(__dirname, 'apps/global.legacy.ts'), 'esm', 'inside');
});
const started: NestApp[] = [];
afterEach(() => Promise.all(started.splice(0).map((app) => app.kill())));
afterAll(() => compiled?.remove());

async function start(env: Record<string, string>): Promise<NestApp> {
  const app = await NestApp.start(compiled.file, { PREFIX: uniqueName('nest'), ...env });
  started.push(app);
  return app;
}

const get = (app: NestApp, user: string, path = '/') => supertest(app.url).get(path).set('x-user', user);
const code = (app: NestApp, user: string) => supertest(app.url).post('/code').set('x-user', user);

describe.each(['express', 'fastify'])('SluiceModule on %s', (PLATFORM) => {
  test.each(['forRoot', 'forRootAsync'])('%s limits each request that has a handler', async (CONFIGURED) => {
    const app = await start({ PLATFORM, CONFIGURED });
    const policy = '"default.perUser";q=2;w=3600, "default.everybody";q=8;w=3600';
    await get(app, 'ann').expect(200, 'hello').expect('RateLimit-Policy', policy);
    await get(app, 'ann')
      .expect(200)
      .expect('RateLimit', /^"default.perUser";r=0;t=\d+, "default.everybody";r=6;t=\d+$/);
    const { headers, text } = await get(app, 'ann').expect(429).expect('Retry-After', /^\d+$/);
    expect(headers['content-type']).toMatch(/^application\/problem\+json/);
    expect(JSON.parse(text)['violated-policies']).toEqual(['default.perUser']);
    for (let i = 0; i < 6; i += 1) await get(app, `other-${i}`).expect(200);
    await get(app, 'last').expect(429);
    expect((await get(app, 'ann', '/health').expect(200, 'well')).headers).not.toHaveProperty('ratelimit');
    await supertest(app.url).get('/nowhere').expect(404);
    await supertest(app.url).get('/').expect(500);
    await code(app, 'ann').expect(201, 'sent');
    await code(app, 'ann').expect(429);
    expect(await app.close()).toBe(0);
  });

  test.each(['forRoot', 'forRootAsync'])(
    '%s: processes share counts in Redis, and end when closed',
    async (CONFIGURED) => {
      const env = { PLATFORM, CONFIGURED, REDIS: redisUrl(), PREFIX: uniqueName('nest') };
      const [one, other] = (await Promise.all([start(env), start(env)])) as [NestApp, NestApp];
      await get(one, 'ann').expect(200);
      await get(other, 'ann').expect(200);
      await get(one, 'ann').expect(429);
      await get(other, 'ann').expect(429);
      await code(one, 'ann').expect(201);
      await code(other, 'ann').expect(429);
      await get(one, 'bob', '/guarded').expect(200);
      const both = '"default.perUser";q=2;w=3600, "default.everybody";q=8;w=3600, "guard";q=1;w=3600';
      await get(other, 'bob', '/guarded').expect(429).expect('RateLimit-Policy', both);
      expect(await Promise.all([one.close(), other.close()])).toEqual([0, 0]);
    },
  );

  test('connects its store at start, and starts with a warning if the store is out', async () => {
    const redis = await startRedis();
    const admin = testClient(redis.url);
    try {
      const app = await start({ PLATFORM, REDIS: redis.url, CONFIGURED: 'forRootAsync' });
      expect(String(await admin.client('LIST'))).toContain('name=sluice');
      expect(await app.close()).toBe(0);
      await redis.kill('SIGKILL');
      const alone = await start({ PLATFORM, REDIS: redis.url });
      await alone.says('[SLUICE_STORE_OUT]');
      await get(alone, 'ann').expect(200);
      expect(await alone.close()).toBe(0);
    } finally {
      admin.disconnect();
      await redis.stop();
    }
  });

  test('counts by itself without Redis, and still ends when closed', async () => {
    const redis = await startRedis();
    try {
      const app = await start({ PLATFORM, REDIS: redis.url, DEADLINE: '2s' });
      await get(app, 'ann').expect(200);
      await redis.kill('SIGKILL');
      for (const status of [200, 200, 429]) await get(app, 'ann').expect(status);
      await code(app, 'ann').expect(201);
      await code(app, 'ann').expect(429);
      expect(await app.close()).toBe(0);
    } finally {
      await redis.stop();
    }
  });

  test("answers 503 without Redis with the failure policy 'deny'", async () => {
    const redis = await startRedis();
    try {
      const app = await start({ PLATFORM, REDIS: redis.url, DEADLINE: '2s', FAILURE: 'deny' });
      await get(app, 'ann').expect(200);
      await redis.kill('SIGKILL');
      const body = { statusCode: 503, message: 'Service Unavailable' };
      const problem = {
        type: 'about:blank',
        title: 'Service Unavailable',
        status: 503,
        detail: 'Try again later.',
      };
      await get(app, 'ann').expect(503, problem).expect('Retry-After', '1');
      await code(app, 'ann').expect(503, body).expect('Retry-After', '1');
      expect(await app.close()).toBe(0);
    } finally {
      await redis.stop();
    }
  });
});
