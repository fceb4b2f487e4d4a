import type { Errors } from './frameworks/framework.js';
import { hourly, onEachAdapter } from './on-each-framework.js';

const limitHeaders = {
  ratelimit: '"all";r=7;t=3600, "api";r=0;t=3600',
  'ratelimit-policy': '"all";q=9;w=3600, "api";q=1;w=3600',
  'retry-after': '3600',
};

onEachAdapter(({ start, limiter }) => {
  const limits = [
    { name: 'all', policy: hourly(9) },
    { name: 'api', policy: hourly(1), throw: true },
  ];

  test.each<Errors>(['framework', 'adapter', 'own'])(
    'a thrown denial that the %s answers has the headers of all limits',
    async (errors) => {
      const handler = jest.fn(() => ({}));
      const client = await start({ limits, errors, handler });
      await client.get('/').expect(200);
      const { headers } = await client.get('/').expect(429);
      expect(headers).toMatchObject(limitHeaders);
      expect(handler).toHaveBeenCalledTimes(1);
    },
  );

  test('an error handler recognizes a denial by its code', async () => {
    const client = await start({ limits, errors: 'own' });
    await client.get('/').expect(200);
    await client.get('/').expect(429, { caught: 'SLUICE_RATE_LIMIT_EXCEEDED' });
  });

  test.each<Errors>(['framework', 'adapter', 'own'])(
    'a thrown denial has the status and the header style of its limit (%s)',
    async (errors) => {
      const client = await start({
        limits: [
          {
            policy: hourly(1),
            throw: true,
            statusCode: 503,
            standardHeaders: 'draft-6',
            legacyHeaders: true,
          },
        ],
        errors,
      });
      await client.get('/').expect(200);
      const { headers } = await client.get('/').expect(503);
      expect(headers).toMatchObject({
        'ratelimit-limit': '1',
        'ratelimit-remaining': '0',
        'ratelimit-reset': '3600',
        'ratelimit-policy': '1;w=3600',
        'x-ratelimit-limit': '1',
        'retry-after': '3600',
      });
      expect(headers).not.toHaveProperty('ratelimit');
    },
  );

  test.each<Errors>(['framework', 'adapter', 'own'])(
    'without standardHeaders a thrown denial has Retry-After only (%s)',
    async (errors) => {
      const client = await start({
        limits: [{ policy: hourly(1), throw: true, standardHeaders: false }],
        errors,
      });
      await client.get('/').expect(200);
      const { headers } = await client.get('/').expect(429).expect('Retry-After', '3600');
      expect(Object.keys(headers).filter((name) => name.includes('ratelimit'))).toEqual([]);
    },
  );

  test('a request on the denyList throws an error of status 403', async () => {
    const client = await start({
      limits: [{ policy: hourly(1), throw: true, denyList: () => true }],
      errors: 'own',
    });
    await client.get('/').expect(403, { caught: 'SLUICE_REQUEST_FORBIDDEN' });
  });

  test('an error of a later limit has the headers of the earlier ones', async () => {
    const client = await start({
      limits: [
        { name: 'all', policy: hourly(9) },
        { name: 'user', policy: hourly(1), limitType: 'USER', validate: false },
      ],
    });
    await client.get('/').expect(500).expect('RateLimit', '"all";r=8;t=3600');
  });

  test('an error of a handler keeps its own headers beside those of the limits', async () => {
    const client = await start({
      limits: [{ name: 'all', policy: hourly(9) }],
      errors: 'adapter',
      handler: () => {
        throw Object.assign(new Error('mine'), { status: 429, headers: { 'Retry-After': '7' } });
      },
    });
    await client.get('/').expect(429).expect('Retry-After', '7').expect('RateLimit', '"all";r=8;t=3600');
  });

  test('a denial of a limiter in the handler adds its items to the headers', async () => {
    const inner = limiter('inner', hourly(1));
    const client = await start({
      limits: [{ name: 'all', policy: hourly(9) }],
      errors: 'adapter',
      handler: async () => ({ left: (await inner.acquire('k', { timeout: 0 })).remaining }),
    });
    await client.get('/').expect(200, { left: 0 });
    await client
      .get('/')
      .expect(429)
      .expect('Retry-After', '3600')
      .expect('RateLimit', '"all";r=7;t=3600, "inner";r=0;t=3600')
      .expect('RateLimit-Policy', '"all";q=9;w=3600, "inner";q=1;w=3600');
  });
});
