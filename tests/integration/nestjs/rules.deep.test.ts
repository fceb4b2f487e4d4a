import { join } from 'node:path';
import supertest from 'supertest';
import { compile, NestApp } from './nest-app.js';

let compiled: Awaited<ReturnType<typeof compile>>;
beforeAll(async () => {
  compiled = await compile(join(__dirname, 'apps/rules.legacy.ts'));
});
afterAll(() => compiled?.remove());

describe.each(['express', 'fastify'])('rules on %s', (PLATFORM) => {
  let app: NestApp;
  beforeAll(async () => {
    app = await NestApp.start(compiled.file, { PLATFORM });
  });
  afterAll(() => app?.kill());
  const get = (path: string, user: string) => supertest(app.url).get(path).set('x-user', user);

  test('the rules that match a request limit it, with their replies', async () => {
    await get('/', 'ann').expect(200, 'hello').expect('RateLimit-Policy', '"shop.perUser";q=2;w=3600');
    await get('/', 'ann').expect(200);
    const { headers, text } = await get('/', 'ann').expect(420).expect('Retry-After', /^\d+$/);
    expect(headers['content-type']).toMatch(/^application\/json/);
    expect(JSON.parse(text)).toEqual({ error: 'slow down' });
    await get('/', 'bob').expect(200);
    await supertest(app.url).get('/').expect(400);
  });

  test('a handler can skip or override rules, or have a guard with other rules', async () => {
    for (let i = 0; i < 3; i += 1) await get('/health', 'eve').expect(200, 'well');
    await get('/guarded', 'eve').expect(200).expect('RateLimit-Policy', '"guard.all";q=1;w=3600');
    await get('/guarded', 'dan').expect(429);
    for (let i = 0; i < 3; i += 1) await get('/own', 'eve').expect(200, 'own');
    await get('/own', 'eve')
      .expect(429)
      .expect('RateLimit-Policy', /^"default:Hello.own";q=3/);
  });

  test('the rule with its name limits a method', async () => {
    const code = (user: string) => supertest(app.url).post('/code').set('x-user', user);
    await code('ann').expect(201, 'sent');
    await code('ann').expect(429).expect('RateLimit-Policy', '"shop.code";q=1;w=3600');
    await code('bob').expect(201);
  });
});
