import { parseList } from 'structured-headers';
import supertest from 'supertest';
import { fixedWindow, RateLimiter, redisStore } from '../../packages/core/src/index.js';
import { redisUrl, uniqueName } from '../support/redis-url.js';
import { inTenSeconds, onEachAdapter } from './adapters.suite.js';

onEachAdapter(({ start, serve, memory, advance }) => {
  test('lets the limit pass, then answers 429 until Retry-After', async () => {
    const client = await start({ limits: [{ name: 'demo', policy: inTenSeconds(2), store: memory() }] });
    await client.get('/').expect(200, { ok: true }).expect('RateLimit', '"demo";r=1;t=10');
    await advance('2500ms');
    await client
      .get('/')
      .expect(200)
      .expect('RateLimit-Policy', '"demo";q=2;w=10')
      .expect('RateLimit', '"demo";r=0;t=8');

    const denied = await client.get('/').expect(429).expect('Retry-After', '8');
    expect(denied.headers).toMatchObject({
      'ratelimit-policy': '"demo";q=2;w=10',
      ratelimit: '"demo";r=0;t=8',
    });
    expect(denied.headers['content-type']).toMatch(/^application\/problem\+json/);
    expect(JSON.parse(denied.text ?? String(denied.body))).toEqual({
      type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
      title: 'Too Many Requests',
      status: 429,
      detail: 'Try again in 8 s.',
      'violated-policies': ['demo'],
    });
    await advance('7499ms');
    await client.get('/').expect(429).expect('Retry-After', '1');
    await advance('1ms');
    const again = await client.get('/').expect(200);
    expect(again.headers).not.toHaveProperty('retry-after');
  });

  test('HEAD counts and is answered without a body', async () => {
    const client = await start({ limits: [{ policy: inTenSeconds(1) }] });
    await client.head('/').expect(200);
    const denied = await client.head('/').expect(429).expect('Retry-After', '10');
    expect(denied.text ?? '').toBe('');
  });

  test('tells the handler the decision', async () => {
    const client = await start({
      limits: [{ policy: inTenSeconds(5) }],
      handler: (decision) => ({ decision }),
    });
    const { body } = await client.get('/').expect(200);
    expect(body.decision).toMatchObject({ allowed: true, name: 'default', limit: 5, remaining: 4 });
  });

  test('several limits each list themselves; the one that denies sets Retry-After', async () => {
    const client = await start({
      limits: [
        { name: 'minute', policy: fixedWindow({ limit: 20, window: '1m' }), store: memory() },
        { name: 'burst', policy: inTenSeconds(1), store: memory() },
      ],
    });
    await client.get('/').expect(200);
    const { headers } = await client.get('/').expect(429).expect('Retry-After', '10');
    const named = (header: string) => parseList(headers[header]!).map(([name]) => name);
    expect(named('ratelimit')).toEqual(['minute', 'burst']);
    expect(named('ratelimit-policy')).toEqual(['minute', 'burst']);
  });

  test('a limiter of ours can be given', async () => {
    const limiter = new RateLimiter({ name: 'mine', policy: inTenSeconds(1) });
    const client = await start({ limits: [{ limiter, limitType: 'METHOD' }] });
    await client.get('/').expect(200);
    await client.get('/').expect(429);
    await limiter.reset('all');
    await client.get('/').expect(200);
    await limiter.close();
    await client.get('/').expect(500);
  });

  test('two servers on one Redis share a limit', async () => {
    const name = uniqueName('shared');
    const store = redisStore(redisUrl());
    // Generous: what is tested is not how fast a busy machine connects.
    const limits = [{ name, policy: fixedWindow({ limit: 2, window: '1h' }), store, deadline: '10s' }];
    const first = await serve({ limits });
    const client = await start({ limits });
    try {
      await supertest(first.url).get('/').expect(200);
      await client
        .get('/')
        .expect(200)
        .expect('RateLimit', new RegExp(`^"${name}";r=0;`));
      await supertest(first.url).get('/').expect(429);
    } finally {
      await first.close();
      await store.close();
    }
  });
});
