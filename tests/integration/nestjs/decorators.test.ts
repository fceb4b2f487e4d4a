import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import supertest from 'supertest';
import { compile, NestApp } from './nest-app.js';

let compiled: Awaited<ReturnType<typeof compile>>;
beforeAll(async () => {
  compiled = await compile(join(__dirname, 'apps/decorated.legacy.ts'));
});
afterAll(() => compiled?.remove());

describe.each(['express', 'fastify'])('decorated methods on %s', (PLATFORM) => {
  let app: NestApp;
  let client: ReturnType<typeof supertest>;
  beforeAll(async () => {
    app = await NestApp.start(compiled.file, { PLATFORM });
    client = supertest(`${app.url}/api`);
  });
  afterAll(() => app?.kill());

  const problem = {
    type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
    title: 'Too Many Requests',
    status: 429,
    detail: expect.stringMatching(/^Try again in \d+ s\.$/),
  };

  test.each(['above', 'below'])('@CountLimit %s @Post keeps injection, pipes and types', async (where) => {
    const send = (phone: unknown) => client.post(`/order/count-${where}`).send({ phone });
    await send('short').expect(400);
    await send('13800000000').expect(201, 'true 13800000000 true');
    const denied = await send('13800000000').expect(429);
    expect(denied.headers['content-type']).toBe('application/problem+json; charset=utf-8');
    expect(denied.headers['retry-after']).toMatch(/^\d+$/);
    const [, name] = /^"(countLimit-[\da-f]{8})"/.exec(String(denied.headers['ratelimit-policy']))!;
    expect(denied.headers['ratelimit-policy']).toBe(`"${name}";q=1;w=3600`);
    expect(denied.headers.ratelimit).toMatch(new RegExp(`^"${name}";r=0;t=\\d+$`));
    expect(JSON.parse(denied.text)).toEqual({ ...problem, 'violated-policies': [name] });
    await send('13900000000').expect(201, 'true 13900000000 true');
  });

  test.each(['above', 'below'])(
    '@RateLimit %s @Get keeps converted parameters and the status',
    async (where) => {
      await client.get(`/order/rate-${where}/one`).expect(400);
      await client.get(`/order/rate-${where}/1`).expect(202, 'number 1');
      await client.get(`/order/rate-${where}/1`).expect(429);
      await client.get(`/order/rate-${where}/2`).expect(202, 'number 2');
    },
  );

  test('guards run before the limit, and interceptors around it', async () => {
    const get = (user: string) => client.get('/around/interceptor').set('x-user', user);
    await get('banned').expect(403);
    await get('ann').expect(200, 'PASSED');
    await get('ann').expect(429);
    await get('bob').expect(200, 'PASSED');
  });

  test('a filter of the application answers instead of ours', async () => {
    await client.get('/around/filter').expect(200);
    const { body } = await client.get('/around/filter').expect(418);
    expect(body.seconds).toMatch(/^\d+$/);
  });

  test('a request without the key gets a 400', async () => {
    const { body } = await client.get('/around/missing').expect(400);
    expect(body).toEqual({
      statusCode: 400,
      error: 'Bad Request',
      message: 'The request needs a value at query.phone: text, a number or a boolean',
    });
    await client.get('/around/missing?phone=1').expect(200);
  });

  test('a decorator on a class limits each handler by itself', async () => {
    await client.get('/whole/one').expect(200, 'passed');
    await client.get('/whole/one').expect(429);
    await client.get('/whole/other/1').expect(200, 'number');
    await client.get('/whole/other/1').expect(429);
  });

  test('services can use the address, user and fields, also when guards and pipes call them', async () => {
    await client.get('/service/ip').expect(200, 'passed');
    await client.get('/service/ip').expect(429);
    await client.get('/service/caught').expect(200, 'left alone: 0');
    await client.get('/service/in-guard').expect(429);
    for (const user of ['ann', 'bob']) {
      await client.get('/service/user').set('x-user', user).expect(200, 'passed');
      await client.get('/service/user').set('x-user', user).expect(429);
    }
    await client.get('/service/in-pipe').set('x-user', 'eve').expect(200, 'passed');
    await client.get('/service/in-pipe').set('x-user', 'eve').expect(429);
    const post = (phone: string, id: number) => client.post(`/service/field/${id}`).send({ phone });
    await post('1', 7).expect(201, 'passed');
    await post('1', 7).expect(429);
    await post('1', 8).expect(201, 'passed');
    await client.get('/service/path/1?page=1').expect(200, 'passed');
    await client.get('/service/path/1?page=2').expect(429);
    await client.get('/service/path/2').expect(200, 'passed');
  });

  test('keys find the fields of a body that arrives after its head', async () => {
    const post = async () => {
      const head = { method: 'POST', headers: { 'Content-Type': 'application/json', 'Content-Length': 13 } };
      const pending = request(`${app.url}/api/service/field/9`, head);
      pending.flushHeaders();
      await new Promise((resolve) => setTimeout(resolve, 50));
      pending.end('{"phone":"2"}');
      const [answer] = (await once(pending, 'response')) as [IncomingMessage];
      answer.resume();
      return answer.statusCode;
    };
    expect([await post(), await post()]).toEqual([201, 429]);
  });

  test('concurrent requests keep their own context', async () => {
    const users = Array.from({ length: 40 }, (_, i) => `at-once-${i}`);
    const get = (user: string) => client.get('/service/user').set('x-user', user);
    const first = await Promise.all(users.map(get));
    expect(first.map(({ status }) => status)).toEqual(users.map(() => 200));
    const second = await Promise.all(users.map(get));
    expect(second.map(({ status }) => status)).toEqual(users.map(() => 429));
  });

  test('closing the application leaves nothing that keeps the process alive', async () => {
    expect(await app.close()).toBe(0);
    expect(app.output).toMatch(/closed\s*$/);
    expect(app.output).not.toMatch(/error|warn/i);
  });
});
