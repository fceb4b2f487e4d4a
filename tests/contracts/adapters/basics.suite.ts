import { parseList } from 'structured-headers';
import supertest from 'supertest';
import { fixedWindow } from '../../../packages/core/src/index.js';
import { hourly, onEachAdapter } from './on-each-framework.js';

onEachAdapter(({ start, serve, place, elsewhere, limiter, advance }) => {
  test('lets the limit pass, then answers 429 until Retry-After', async () => {
    const client = await start({ limits: [{ name: 'demo', policy: hourly(2) }] });
    await client.get('/').expect(200, { ok: true }).expect('RateLimit', '"demo";r=1;t=3600');
    await advance('2500ms');
    await client
      .get('/')
      .expect(200)
      .expect('RateLimit-Policy', '"demo";q=2;w=3600')
      .expect('RateLimit', '"demo";r=0;t=3598');

    const denied = await client.get('/').expect(429).expect('Retry-After', '3598');
    expect(denied.headers).toMatchObject({
      'ratelimit-policy': '"demo";q=2;w=3600',
      ratelimit: '"demo";r=0;t=3598',
    });
    expect(denied.headers['content-type']).toMatch(/^application\/problem\+json/);
    expect(JSON.parse(denied.text ?? String(denied.body))).toEqual({
      type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
      title: 'Too Many Requests',
      status: 429,
      detail: 'Try again in 3598 s.',
      'violated-policies': ['demo'],
    });
    await advance('3597499ms');
    await client.get('/').expect(429).expect('Retry-After', '1');
    await advance('1ms');
    const again = await client.get('/').expect(200);
    expect(again.headers).not.toHaveProperty('retry-after');
  });

  test('passes the decision to the handler', async () => {
    const client = await start({
      limits: [{ policy: hourly(5) }],
      handler: (decision) => ({ decision }),
    });
    const { body } = await client.get('/').expect(200);
    expect(body.decision).toMatchObject({ allowed: true, name: 'default', limit: 5, remaining: 4 });
  });

  test('several limits each have an item, and the limit that denies sets Retry-After', async () => {
    const client = await start({
      limits: [
        { name: 'day', policy: fixedWindow({ limit: 20, window: '1d' }) },
        { name: 'burst', policy: hourly(1) },
      ],
    });
    await client.get('/').expect(200);
    const { headers } = await client.get('/').expect(429).expect('Retry-After', '3600');
    const named = (header: string) => parseList(headers[header]!).map(([name]) => name);
    expect(named('ratelimit')).toEqual(['day', 'burst']);
    expect(named('ratelimit-policy')).toEqual(['day', 'burst']);
  });

  test('counts by a limiter that is passed in, and answers 503 when it is closed', async () => {
    const mine = limiter('mine', hourly(1));
    const client = await start({ limits: [{ limiter: mine, limitType: 'METHOD' }] });
    await client.get('/').expect(200);
    await client.get('/').expect(429);
    await mine.reset('all');
    await client.get('/').expect(200);
    await mine.close();
    await client.get('/').expect(503);
  });

  test('two servers share a limit in one store', async () => {
    const there = elsewhere('shared');
    const policy = hourly(2);
    const other = await serve({ limits: [{ ...there, policy }] });
    const client = await start({ limits: [{ ...place('shared'), policy }] });
    try {
      await supertest(other.url).get('/').expect(200);
      await client.get('/').expect(200).expect('RateLimit', '"shared";r=0;t=3600');
      await supertest(other.url).get('/').expect(429);
    } finally {
      await other.close();
      await there.store.close();
    }
  });
});
