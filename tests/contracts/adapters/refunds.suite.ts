import { eventually, gate, visitor } from './clients.js';
import { hourly, onEachAdapter } from './on-each-framework.js';

onEachAdapter(({ start, url, limiter: limiterOf, advance, headerOf }) => {
  /** Resolves when this number of permits is left: refunds follow the response. */
  const leaves = (limiter: ReturnType<typeof limiterOf>, remaining: number) =>
    eventually(async () => (await limiter.peek('all')).remaining === remaining);

  test('skipSuccessfulRequests refunds successful requests only', async () => {
    const limiter = limiterOf('logins', hourly(3));
    let code = 0;
    const client = await start({
      limits: [{ limiter, limitType: 'METHOD', skipSuccessfulRequests: true }],
      handler: (_decision, { status }) => {
        status(code);
        return {};
      },
    });
    for (code of [200, 201, 304, 399]) {
      await client.get('/').expect(code);
      await leaves(limiter, 3);
    }
    for (code of [400, 404, 500]) await client.get('/').expect(code);
    await client.get('/').expect(429);
    await advance('1h');
    await client.get('/').expect(code);
  });

  test('skipFailedRequests refunds requests that failed with an error or a status', async () => {
    const limiter = limiterOf('orders', hourly(2));
    let work = (): unknown => ({});
    const client = await start({
      limits: [{ limiter, limitType: 'METHOD', skipFailedRequests: true }],
      handler: (_decision, { status }) => {
        status(400);
        return work();
      },
    });
    await client.get('/').expect(400);
    await leaves(limiter, 2);
    work = () => {
      throw Object.assign(new Error('tea'), { status: 418 });
    };
    await client.get('/').expect(418);
    await leaves(limiter, 2);
  });

  test('skipFailedRequests refunds requests that a later limit denies', async () => {
    const limiter = limiterOf('outer', hourly(9));
    const client = await start({
      limits: [
        { limiter, limitType: 'METHOD', skipFailedRequests: true },
        { name: 'inner', policy: hourly(1) },
      ],
    });
    await client.get('/').expect(200);
    await client.get('/').expect(429);
    await leaves(limiter, 8);
  });

  test('skipFailedRequests refunds nothing for a denial, which took nothing', async () => {
    const limiter = limiterOf('orders', hourly(1));
    const client = await start({ limits: [{ limiter, limitType: 'METHOD', skipFailedRequests: true }] });
    await client.get('/').expect(200);
    for (let i = 0; i < 3; i += 1) await client.get('/').expect(429);
    expect(await limiter.peek('all')).toMatchObject({ remaining: 0 });
  });

  test('skipFailedRequests refunds a request whose client leaves', async () => {
    const limiter = limiterOf('orders', hourly(1));
    const { open, reached, pass } = gate();
    await start({ limits: [{ limiter, limitType: 'METHOD', skipFailedRequests: true }], handler: pass });
    const { leave } = visitor(url());
    await reached();
    expect(await limiter.peek('all')).toMatchObject({ remaining: 0 });
    leave();
    await leaves(limiter, 1);
    open();
  });

  test('skipSuccessfulRequests does not refund a request whose client leaves', async () => {
    const limiter = limiterOf('logins', hourly(2));
    const { open, reached, pass } = gate();
    let handler = pass;
    const client = await start({
      limits: [{ limiter, limitType: 'METHOD', skipSuccessfulRequests: true }],
      handler: () => handler(),
    });
    const { leave } = visitor(url());
    await reached();
    leave();
    handler = async () => ({ ok: true });
    await client.get('/').expect(200);
    await leaves(limiter, 1);
    open();
  });

  test('requestWasSuccessful decides which requests are successful', async () => {
    const limiter = limiterOf('logins', hourly(2));
    const client = await start({
      limits: [
        {
          limiter,
          limitType: 'METHOD',
          skipSuccessfulRequests: true,
          requestWasSuccessful: async (request) => headerOf(request, 'x-password') === 'right',
        },
      ],
    });
    await client.get('/').set('x-password', 'right').expect(200);
    await leaves(limiter, 2);
    await client.get('/').set('x-password', 'wrong').expect(200);
    await client.get('/').set('x-password', 'wrong').expect(200);
    await client.get('/').set('x-password', 'right').expect(429);
  });
});
