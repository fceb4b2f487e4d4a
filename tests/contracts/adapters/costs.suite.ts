import { fixedWindow } from '../../../packages/core/src/index.js';
import { hourly, onEachAdapter } from './on-each-framework.js';

onEachAdapter(({ start, headerOf }) => {
  test('a request costs as many permits as cost says, also none', async () => {
    const client = await start({ limits: [{ policy: hourly(5), cost: 2 }] });
    await client.get('/').expect(200).expect('RateLimit', '"default";r=3;t=3600');
    await client.get('/').expect(200);
    await client.get('/').expect(429);
    const free = await start({ limits: [{ name: 'free', policy: hourly(1), cost: 0 }] });
    for (let i = 0; i < 3; i += 1) await free.get('/').expect(200).expect('RateLimit', '"free";r=1;t=0');
  });

  test('a function returns the cost of each request', async () => {
    const cost = async (request: unknown) => Number(headerOf(request, 'x-cost'));
    const client = await start({ limits: [{ policy: hourly(5), cost }] });
    const get = (permits: number | string) => client.get('/').set('x-cost', String(permits));
    await get(4).expect(200);
    await get(2).expect(429);
    await get(1).expect(200);
    await get(0).expect(200);
  });

  test('a cost above the limit is denied without Retry-After', async () => {
    const client = await start({ limits: [{ policy: hourly(5), cost: 6 }] });
    const denied = await client.get('/').expect(429);
    expect(denied.headers).not.toHaveProperty('retry-after');
    expect(JSON.parse(denied.text ?? String(denied.body)).detail).toBe(
      'This request costs more than the limit can ever give.',
    );
  });

  test('a cost function that returns no valid cost is a 500, and takes nothing', async () => {
    const handler = jest.fn(() => ({}));
    const values = [Number.NaN, -1, 0.5, Number.POSITIVE_INFINITY, 1e300, '1', null, [1], { other: 1 }, true];
    let next = 0;
    const cost = () => values[next] as number;
    const client = await start({ limits: [{ policy: hourly(1), cost }], handler });
    for (next = 0; next < values.length; next += 1) await client.get('/').expect(500);
    expect(handler).not.toHaveBeenCalled();
    values.push(1);
    await client.get('/').expect(200);
  });

  test('costs can differ by policy', async () => {
    const policies = { perHour: hourly(3), perDay: fixedWindow({ limit: 10, window: '1d' }) };
    const client = await start({ limits: [{ name: 'api', policies, cost: { perDay: 5 } }] });
    await client
      .get('/')
      .expect(200)
      .expect('RateLimit', '"api.perHour";r=2;t=3600, "api.perDay";r=5;t=86400');
    await client.get('/').expect(200);
    const denied = await client.get('/').expect(429);
    expect(denied.headers.ratelimit).toBe('"api.perHour";r=1;t=3600, "api.perDay";r=0;t=86400');
  });
});
