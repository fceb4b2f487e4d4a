import { once } from 'node:events';
import { concurrency, RateLimiter } from '../../../packages/core/src/index.js';
import { eventually, gate, RawClient, visitor } from './clients.js';
import { hourly, onEachAdapter } from './on-each-framework.js';

/** One at a time. Only a release lets the next one in: no lease ends within a test. */
const policy = concurrency({ limit: 1, lease: '1h' });

onEachAdapter(({ start, url, limiter: limiterOf, elsewhere, headerOf, socketOf }) => {
  let limiter: RateLimiter;
  beforeEach(() => {
    limiter = limiterOf('busy', policy);
  });

  const released = async () => limiter.release(await limiter.acquire('all'));

  test('a request holds its permit until its response is over', async () => {
    const { open, reached, pass } = gate();
    const client = await start({ limits: [{ limiter, limitType: 'METHOD' }], handler: pass });
    const first = client.get('/').expect(200);
    const done = first.then(() => {});
    await reached();
    await client
      .get('/')
      .expect(429)
      .expect('RateLimit', /^"busy";r=0;/)
      .expect('Retry-After', /^\d+$/);
    open();
    await done;
    await released();
    await client.get('/').expect(200);
    await released();
  });

  test('a request releases its permit when the handler throws, and when a later limit denies', async () => {
    let fails = true;
    const client = await start({
      limits: [
        { limiter, limitType: 'METHOD' },
        { name: 'second', policy: hourly(2) },
      ],
      handler: () => {
        if (fails) throw Object.assign(new Error('no'), { status: 418 });
        return {};
      },
    });
    await client.get('/').expect(418);
    await released();
    fails = false;
    await client.get('/').expect(200);
    await released();
    await client.get('/').expect(429);
    await released();
  });

  test('a request releases its permit when the client leaves before the response', async () => {
    const { open, reached, pass } = gate();
    await start({ limits: [{ limiter, limitType: 'METHOD' }], handler: pass });
    const { leave } = visitor(url());
    await reached();
    expect(await limiter.peek('all')).toMatchObject({ remaining: 0 });
    leave();
    await released();
    open();
  });

  test('a request releases its permit when the client left before the request was admitted', async () => {
    const { open, reached, pass } = gate();
    let admitted = 0;
    const keyGenerator = async (request: unknown) => {
      const closed = once(socketOf(request), 'close');
      await pass();
      await closed;
      admitted += 1;
      return 'all';
    };
    await start({ limits: [{ limiter, keyGenerator }] });
    const { leave } = visitor(url());
    await reached();
    leave();
    open();
    await eventually(async () => admitted > 0);
    await released();
  });

  test('requests of one connection hold the permit one after the other', async () => {
    await start({ limits: [{ limiter, limitType: 'METHOD' }] });
    const client = new RawClient(url());
    for (let i = 1; i <= 3; i += 1) {
      client.send();
      await client.until(new RegExp(`^(?:[^]*HTTP/1.1 200){${i}}[^]*"ok":true}`));
      await released();
    }
    client.leave();
  });

  test('a permit is released under the policy of its own request', async () => {
    const { open, reached, pass } = gate();
    const limits = [
      {
        policy: (request: unknown) =>
          concurrency({ limit: Number(headerOf(request, 'x-limit')), lease: '1h' }),
        limitType: 'METHOD' as const,
      },
    ];
    let handler = pass;
    const client = await start({ limits, handler: () => handler() });
    const first = client.get('/').set('x-limit', '1').expect(200);
    const done = first.then(() => {});
    await reached();
    handler = async () => ({ ok: true });
    await client.get('/').set('x-limit', '1').expect(429);
    await client.get('/').set('x-limit', '2').expect(200);
    open();
    await done;
    // The response may end a moment before its permit is back.
    await eventually(async () => (await client.get('/').set('x-limit', '1')).status === 200);
  });

  test('a call that waits in another process gets the permit', async () => {
    const there = elsewhere('busy');
    const other = new RateLimiter({ ...there, policy });
    const { open, reached, pass } = gate();
    try {
      const client = await start({ limits: [{ limiter, limitType: 'METHOD' }], handler: pass });
      const done = client
        .get('/')
        .expect(200)
        .then(() => {});
      await reached();
      const waiting = other.acquire('all');
      open();
      await done;
      await other.release(await waiting);
    } finally {
      await other.close();
      await there.store.close();
    }
  });
});
