import { concurrency, leakyBucket } from '../../../packages/core/src/index.js';
import { eventually, gate, visitor } from './clients.js';
import { hourly, onEachAdapter } from './on-each-framework.js';

onEachAdapter(({ start, url, limiter: limiterOf, advance, asleep }) => {
  test('a request waits for its permits up to the timeout', async () => {
    const handler = jest.fn(() => ({ ok: true }));
    const client = await start({ limits: [{ policy: hourly(1), timeout: '1h' }], handler });
    await client.get('/').expect(200);
    const waiting = client
      .get('/')
      .expect(200)
      .expect('RateLimit', '"default";r=0;t=3600') // from now, not from when it came
      .then(() => {});
    await asleep(1);
    await advance('3599999ms');
    expect(handler).toHaveBeenCalledTimes(1);
    await advance('1ms');
    await waiting;
    expect(handler).toHaveBeenCalledTimes(2);
  });

  test('a request that would wait longer is denied at once', async () => {
    const client = await start({ limits: [{ policy: hourly(1), timeout: '59m' }] });
    await client.get('/').expect(200);
    await client
      .get('/')
      .expect(429)
      .expect('Retry-After', '3600')
      .expect('RateLimit', '"default";r=0;t=3600');
  });

  test('waiting requests pass in the order in which they arrived', async () => {
    const order: unknown[] = [];
    const client = await start({
      limits: [
        { policy: leakyBucket({ capacity: 5, leak: 1, every: '1h' }), timeout: '1d', limitType: 'METHOD' },
      ],
      handler: (decision) => {
        order.push(decision!.remaining);
        return {};
      },
    });
    await client.get('/').expect(200);
    const waiting = [];
    for (let i = 1; i <= 3; i += 1) {
      waiting.push(client.get('/').then(({ status }) => status));
      await asleep(i);
    }
    for (let i = 1; i <= 3; i += 1) {
      await advance('1h');
      await eventually(async () => order.length === i + 1);
    }
    expect(await Promise.all(waiting)).toEqual([200, 200, 200]);
  });

  test('a waiting request is a 503 when its limiter closes', async () => {
    const limiter = limiterOf('closing', hourly(1));
    const client = await start({ limits: [{ limiter, timeout: '2h' }] });
    await client.get('/').expect(200);
    const waiting = client.get('/').then(({ status }) => status);
    await asleep(1);
    await limiter.close();
    expect(await waiting).toBe(503);
  });

  test('a client that leaves while it waits returns its booking, and the handler is not called', async () => {
    const handler = jest.fn(() => ({ ok: true }));
    const limiter = limiterOf('api', hourly(1));
    const limits = [{ limiter, limitType: 'METHOD' as const, timeout: '2h' }];
    const client = await start({ limits, handler });
    await client.get('/').expect(200);
    const { leave } = visitor(url());
    await asleep(1);
    leave();
    // The place of the cancelled call is free again: a later call waits for the next window, not for the one after it.
    await eventually(async () => (await limiter.peek('all')).retryAfter === 3_600_000);
    const waiting = client
      .get('/')
      .expect(200)
      .then(() => {});
    await asleep(2);
    await advance('1h');
    await waiting;
    expect(handler).toHaveBeenCalledTimes(2);
  });

  test('a client that leaves while it waits for a held permit leaves the queue', async () => {
    const limiter = limiterOf('busy', concurrency({ limit: 1, lease: '1h' }));
    const { open, reached, pass } = gate();
    const handler = jest.fn(pass);
    const limits = [{ limiter, limitType: 'METHOD' as const, timeout: '10h' }];
    const client = await start({ limits, handler });
    const first = client
      .get('/')
      .expect(200)
      .then(() => {});
    await reached();
    const [begun, each] = [1, 2]; // the holder's lease; each queued call sleeps until the store listens, and then again
    const { leave } = visitor(url());
    await asleep(begun + each);
    leave();
    const third = client
      .get('/')
      .expect(200)
      .then(() => {});
    await asleep(begun + 2 * each);
    open();
    await first;
    await third;
    expect(handler).toHaveBeenCalledTimes(2);
    await limiter.release(await limiter.acquire('all'));
  });

  test('a release admits a waiting request', async () => {
    const limiter = limiterOf('busy', concurrency({ limit: 1, lease: '1h' }));
    const held = await limiter.acquire('all');
    const client = await start({ limits: [{ limiter, limitType: 'METHOD', timeout: '30m' }] });
    const waiting = client
      .get('/')
      .expect(200)
      .then(() => {});
    await asleep(2); // the holder's lease, and the waiting call
    await limiter.release(held);
    await waiting;
  });

  test('a timeout of 0 does not wait', async () => {
    const client = await start({ limits: [{ policy: hourly(1), timeout: 0 }] });
    await client.get('/').expect(200);
    await client.get('/').expect(429);
  });
});
