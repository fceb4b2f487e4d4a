import { once } from 'node:events';
import { request as ask } from 'node:http';
import { hourly, onEachAdapter } from './on-each-framework.js';

onEachAdapter(({ start, url, limiter, methodOf, headerOf }) => {
  test('HEAD counts with GET, and its response has no body', async () => {
    const client = await start({ scopes: [{ at: '/api', routes: { '/one': [{ policy: hourly(2) }] } }] });
    await client.get('/api/one').expect(200);
    await client.head('/api/one').expect(200).expect('RateLimit', '"default";r=0;t=3600');
    const denied = await client.head('/api/one').expect(429).expect('Retry-After', '3600');
    expect(denied.text ?? '').toBe('');
    await client.get('/api/one').expect(429);
  });

  test('requests of every method count, also of OPTIONS', async () => {
    const client = await start({ limits: [{ policy: hourly(4) }] });
    await client.options('/').expect(200);
    await client.put('/').expect(200);
    await client.delete('/').expect(200);
    await client.head('/').expect(200);
    await client.options('/').expect(429).expect('Retry-After', '3600');
  });

  test('skip can exempt CORS preflights', async () => {
    const skip = (request: unknown) =>
      methodOf(request) === 'OPTIONS' && headerOf(request, 'access-control-request-method') !== undefined;
    const client = await start({ limits: [{ policy: hourly(1), skip }] });
    const preflight = () => client.options('/').set('Access-Control-Request-Method', 'POST');
    const first = await preflight().expect(200);
    expect(first.headers).not.toHaveProperty('ratelimit');
    await client.post('/').expect(200);
    await client.post('/').expect(429);
    await preflight().expect(200);
    await client.options('/').expect(429);
  });

  test('the limit of a router applies to its routes only', async () => {
    const client = await start({
      scopes: [{ at: '/api', limits: [{ policy: hourly(2) }], routes: { '/one': [], '/two': [] } }],
    });
    await client.get('/api/one').expect(200);
    await client.get('/api/two').expect(200);
    await client.get('/api/one').expect(429);
    const outside = await client.get('/elsewhere').expect(200);
    expect(outside.headers).not.toHaveProperty('ratelimit');
  });

  test('one limit on several routers has one count', async () => {
    const limits = [{ limiter: limiter('shared', hourly(2)) }];
    const client = await start({
      scopes: [
        { at: '/v1', limits, routes: { '/x': [] } },
        { at: '/v2', limits: [], routes: { '/x': limits } },
      ],
    });
    await client.get('/v1/x').expect(200);
    await client.get('/v2/x').expect(200);
    await client.get('/v1/x').expect(429);
    await client.get('/v2/x').expect(429);
  });

  test('several limits of a route share the headers, and the first that denies answers', async () => {
    const client = await start({
      limits: [{ name: 'all', policy: hourly(9) }],
      scopes: [
        {
          at: '/api',
          limits: [{ name: 'api', policy: hourly(5) }],
          routes: {
            '/x': [
              { name: 'route', policy: hourly(2) },
              { name: 'inner', policy: hourly(1) },
            ],
          },
        },
      ],
    });
    await client
      .get('/api/x')
      .expect(200)
      .expect('RateLimit', '"all";r=8;t=3600, "api";r=4;t=3600, "route";r=1;t=3600, "inner";r=0;t=3600');
    const violated = async () => JSON.parse((await client.get('/api/x').expect(429).buffer()).text);
    expect(await violated()).toMatchObject({ 'violated-policies': ['inner'] });
    const { headers } = await client.get('/api/x').expect(429);
    expect(headers.ratelimit).toBe('"all";r=6;t=3600, "api";r=2;t=3600, "route";r=0;t=3600');
  });

  test('#{path} is the whole path, without the query', async () => {
    const limits = [{ policy: hourly(1), key: '#{path}' }];
    const client = await start({
      scopes: [
        { at: '/a', routes: { '/x': limits } },
        { at: '/b', limits, routes: { '/x': [] } },
      ],
      limits: [],
    });
    await client.get('/a/x?n=1').expect(200);
    await client.get('/a/x?n=2').expect(429);
    await client.get('/b/x').expect(200);
    await client.get('/b/x').expect(429);
  });

  test('#{params.id} is the parameter of the route', async () => {
    const limits = [{ policy: hourly(1), key: '#{params.id}' }];
    const client = await start({ scopes: [{ at: '/users', routes: { '/:id': limits } }] });
    await client.get('/users/1').expect(200);
    await client.get('/users/2').expect(200);
    await client.get('/users/1').expect(429);
    await client.get('/users/%31').expect(429);
    await client.get('/users/__proto__').expect(200);
    await client.get('/users/__proto__').expect(429);
  });

  test('a key with an unknown route parameter is a 500', async () => {
    const client = await start({ limits: [{ policy: hourly(1), key: '#{params.id}', validate: false }] });
    await client.get('/users/1').expect(500);
  });

  test.each([
    '/users/1/',
    '/users/%31',
    '//users/1',
    '/users//1',
    '/./users/x/../1',
    '/users/1?a=1',
    '/users/1/?a',
  ])('%s does not evade a limit by #{path}', async (path) => {
    await start({ limits: [{ policy: hourly(1), key: '#{path}' }] });
    const status = async (target: string) => {
      const request = ask(url(), { path: target }).end();
      const [{ statusCode }] = await once(request, 'response');
      return statusCode;
    };
    expect(await status('/users/1')).toBe(200);
    expect(await status(path)).toBe(429);
  });

  test('#{route} is the pattern of the route, with the prefix of its router', async () => {
    const limit = { policy: hourly(1), key: '#{route}' };
    const client = await start({
      scopes: [
        {
          at: '/api',
          routes: { '/users/:id': [limit], '/orders/:id': [{ ...limit, key: '#{route}:#{params.id}' }] },
        },
      ],
    });
    await client.get('/api/users/1').expect(200);
    await client.get('/api/users/2').expect(429);
    await client.get('/api/orders/1').expect(200);
    await client.get('/api/orders/2').expect(200);
    await client.get('/api/orders/2').expect(429);
  });

  test('repeated slashes are one, and a malformed path is no 500', async () => {
    await start({ limits: [{ policy: hourly(1), key: '#{path}' }] });
    const status = async (path: string) => {
      const request = ask(url(), { path }).end();
      const [response] = await once(request, 'response');
      response.resume();
      return response.statusCode;
    };
    expect(await status('/a//b')).toBe(200);
    expect(await status('/a/b')).toBe(429);
    expect(await status('/%zz')).not.toBe(500);
  });
});
