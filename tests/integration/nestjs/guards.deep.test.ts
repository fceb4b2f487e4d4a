import { join } from 'node:path';
import supertest from 'supertest';
import { compile, NestApp } from './nest-app.js';

let compiled: Awaited<ReturnType<typeof compile>>;
beforeAll(async () => {
  compiled = await compile(join(__dirname, 'apps/guards.legacy.ts'), 'esm', 'inside');
});
afterAll(() => compiled?.remove());

const applications = ['express', 'fastify'].flatMap((platform) => [
  [platform, 'with'],
  [platform, 'without'],
]);

describe.each(applications)('RateLimitGuard on %s, %s SluiceModule', (PLATFORM, MODULE) => {
  let app: NestApp;
  let client: ReturnType<typeof supertest>;
  beforeAll(async () => {
    app = await NestApp.start(compiled.file, { PLATFORM: PLATFORM!, MODULE: MODULE! });
    client = supertest(`${app.url}/guards`);
  });
  afterAll(() => app?.kill());

  test('counts by a field of the body, sets headers, and denies with problem details', async () => {
    const login = (email?: string) => client.post('/login').send({ email });
    await login('ann').expect(201, '1 left').expect('RateLimit-Policy', '"login";q=2;w=3600');
    await login('ann')
      .expect(201, '0 left')
      .expect('RateLimit', /^"login";r=0;t=\d+$/);
    const denied = await login('ann').expect(429).expect('Retry-After', /^\d+$/);
    expect(denied.headers['content-type']).toMatch(
      MODULE === 'with' ? /^application\/problem\+json/ : /^application\/json/,
    );
    expect(denied.headers['ratelimit-policy']).toBe('"login";q=2;w=3600');
    expect(JSON.parse(denied.text)).toMatchObject({ status: 429, 'violated-policies': ['login'] });
    await login('bob').expect(201, '1 left');
    const { body } = await login().expect(400);
    expect(body.message).toBe('The request needs a value at body.email: text, a number or a boolean');
  });

  test('uses the user of an earlier guard, and keeps the headers of that guard', async () => {
    const policies = '"cdn";q=9;w=9, "user";q=1;w=3600';
    await client.get('/user').set('x-user', 'ann').expect(200).expect('RateLimit-Policy', policies);
    await client.get('/user').set('x-user', 'ann').expect(429);
    await client.get('/user').set('x-user', 'bob').expect(200);
  });

  test('passes the execution context to functions', async () => {
    const job = () => client.get('/skip').set('x-job', '1').expect(200);
    expect((await job()).headers).not.toHaveProperty('ratelimit');
    await client.get('/skip').expect(200);
    await client.get('/skip').expect(429);
    await job();
    await client.get('/denied').set('x-bad', '1').expect(403);
    await client.get('/denied').expect(200);
  });

  test('answers with a custom text or object', async () => {
    await client.get('/text').expect(200);
    const text = await client.get('/text').expect(503).expect('Retry-After', /^\d+$/);
    // Without the module's filter Nest answers, and wraps a text in its usual object.
    expect(text.text).toBe(MODULE === 'with' ? 'later' : '{"statusCode":503,"message":"later"}');
    await client.get('/object').expect(200);
    const { body } = await client.get('/object').expect(429);
    expect(body).toEqual({ handler: 'object', limit: 1 });
    await client.get('/notes').expect(200, ['Guards object']);
  });

  test('answers browsers with a page', async () => {
    await client.get('/filtered').expect(200);
    const denied = await client.get('/filtered').set('accept', 'text/html').expect(429);
    expect(denied.body.own).toEqual('Too Many Requests');
    const thrown = () => client.get('/thrown').set('accept', 'text/html');
    await thrown().expect(200);
    const { text } = await thrown()
      .expect(429)
      .expect('Retry-After', /^\d+$/)
      .expect('RateLimit', /^"thrown";r=0;t=\d+$/);
    expect(text).toMatch(
      MODULE === 'with' ? /^<!doctype html>/ : /^\{"statusCode":429,"message":"Rate limit 'thrown'/,
    );
  });

  test("throws an exception that custom filters can handle, with the limit's answer", async () => {
    const { body } = await client.get('/filtered').expect(429).expect('Retry-After', /^\d+$/);
    expect(body.own).toMatchObject({ title: 'Too Many Requests', 'violated-policies': ['filtered'] });
  });

  test('refunds successful requests', async () => {
    await client.get('/failures/200').expect(200);
    await client.get('/failures/200').expect(200);
    await client.get('/failures/500').expect(500);
    await client.get('/failures/200').expect(429);
  });

  test('holds a permit until the end of the request', async () => {
    const first = client.get('/held').then(({ status }) => status);
    while ((await client.get('/holding')).text !== 'true');
    await client.get('/held').expect(429);
    await client.post('/finish').expect(201);
    expect(await first).toBe(200);
  });

  test('lets requests wait with a timeout', async () => {
    const answers = await Promise.all(Array.from({ length: 3 }, () => client.get('/waits')));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  });

  test('takes nothing for a client that disconnects while its request waits', async () => {
    await client.get('/long').expect(200);
    await expect(client.get('/long').timeout(100)).rejects.toThrow(/Timeout/);
    await client.get('/served').expect(200, '1');
  });

  test('answers 503 while the store is out, and names the store only in the log', async () => {
    const { body } = await client.get('/unreachable').expect(503).expect('Retry-After', '1');
    expect(body).toEqual({ statusCode: 503, message: 'Service Unavailable' });
    await app.says('secret.internal');
  });

  test('is one limit in all modules, which @SkipLimit skips', async () => {
    const { get } = supertest(app.url);
    await get('/shared/one').expect(200);
    await get('/shared/other').expect(200);
    await get('/shared/other').expect(429);
    await get('/shared/one').expect(429);
    expect((await get('/shared/free').expect(200)).headers).not.toHaveProperty('ratelimit');
    await get('/free').expect(429); // a guard of the same controller still applies
  });

  test('keeps no process alive after the application is closed', async () => {
    expect(await app.close()).toBe(0);
  });
});
