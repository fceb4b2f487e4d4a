import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import supertest from 'supertest';
import { redisUrl } from '../../support/redis-url.js';
import { compile, NestApp } from './nest-app.js';

const source = join(__dirname, 'apps/readme.legacy.ts');
const readme = readFileSync(join(__dirname, '../../../packages/nestjs/README.md'), 'utf8');
const blocks = [...readme.matchAll(/^```typescript\n([\s\S]*?)^```$/gm)].map(([, text]) => text!);

test('the program of the tests below contains each block of the README', () => {
  const plain = (text: string) => text.replace(/\s+/g, ' ').trim();
  const ofTests = /^import .* '\.\/serve.*$|^.* \/\/ of the tests$/gm;
  const program = plain(readFileSync(source, 'utf8').replace(ofTests, ''));
  expect(blocks).toHaveLength(3);
  expect(blocks.filter((block) => !program.includes(plain(block)))).toEqual([]);
});

let compiled: Awaited<ReturnType<typeof compile>>;
beforeAll(async () => {
  compiled = await compile(source, 'esm', 'inside');
});
afterAll(() => compiled?.remove());

describe.each(['express', 'fastify'])('on %s', (PLATFORM) => {
  const started: NestApp[] = [];
  beforeAll(forgetCounts);
  afterEach(() => Promise.all(started.splice(0).map((app) => app.kill())));

  async function start(env: Record<string, string> = {}) {
    const app = await NestApp.start(compiled.file, { PLATFORM, REDIS_URL: redisUrl(), ...env });
    started.push(app);
    return { app, client: supertest(app.url) };
  }

  test('the module limits requests as the README shows', async () => {
    const { app, client } = await start();
    const login = (email: string) => client.post('/account/login').send({ email });
    const phone = randomUUID();
    await client.post('/sms').send({ phone }).expect(201, `sent to ${phone}`);
    await client.post('/sms').send({ phone }).expect(429).expect('Retry-After', /^\d+$/);
    expect((await client.get('/sms/health').expect(200, 'up')).headers).not.toHaveProperty('ratelimit');
    const email = randomUUID();
    for (let i = 0; i < 5; i += 1) await login(email).expect(201, 'welcome');
    await login(email).expect(429);
    for (let i = 0; i < 3; i += 1) await client.post('/account/code').expect(201, 'sent');
    await client.post('/account/code').expect(429);
    expect(await app.close()).toBe(0);
  });

  test('forRootAsync and the guard work as the README shows', async () => {
    const { app, client } = await start({ MODULE: 'reports' });
    await client.get('/reports').set('x-job', '1').expect(200, 'report');
    const { body } = await client.get('/reports').expect(500);
    expect(body.message).toBe('Internal Server Error');
    expect(await app.close()).toBe(0);
  });
});

/** The limit of the README counts all tests' requests of the last minute. */
async function forgetCounts(): Promise<void> {
  const client = new Redis(redisUrl());
  const keys = await client.keys('sluice:v2:*:default:*');
  if (keys.length > 0) await client.del(keys);
  client.disconnect();
}
