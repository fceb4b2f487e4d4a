import { PassThrough } from 'node:stream';
import { concurrency } from '../../../packages/core/src/index.js';
import { eventually, RawClient } from './clients.js';
import { hourly, onEachAdapter } from './on-each-framework.js';

const busy = concurrency({ limit: 1, lease: '1h' });

onEachAdapter(({ start, url, limiter: limiterOf, needs }) => {
  /** A stream that has begun, and holds a permit. */
  const held = async () => {
    const limiter = limiterOf('busy', busy);
    const stream = new PassThrough();
    await start({ limits: [{ limiter, limitType: 'METHOD' }], handler: () => stream });
    const client = new RawClient(url());
    client.send();
    stream.write('first');
    await client.until(/first/);
    return { limiter, stream, client };
  };

  test('the headers are sent before the first byte of a stream', async () => {
    const stream = new PassThrough();
    await start({ limits: [{ policy: hourly(2) }], handler: () => stream });
    const client = new RawClient(url());
    client.send();
    stream.write('first');
    const head = await client.until(/first/);
    expect(head).toMatch(/^HTTP\/1\.1 200 /);
    expect(head).toMatch(/\r\nRateLimit: "default";r=1;t=3600\r\n/i);
    expect(head).toMatch(/\r\nRateLimit-Policy: "default";q=2;w=3600\r\n/i);
    stream.end('last');
    await client.until(/last/);
    client.leave();
  });

  test('a permit is held until the stream ends', async () => {
    const { limiter, stream, client } = await held();
    expect(await limiter.peek('all')).toMatchObject({ remaining: 0 });
    stream.end('last');
    await client.until(/last/);
    await limiter.release(await limiter.acquire('all'));
    client.leave();
  });

  test('a permit is held until the client leaves in the middle of a stream', async () => {
    const { limiter, stream, client } = await held();
    client.leave();
    await limiter.release(await limiter.acquire('all'));
    stream.destroy();
  });

  needs('brokenStreams')('a permit is held until the stream breaks', async () => {
    const { limiter, stream, client } = await held();
    stream.destroy(new Error('the disk is gone'));
    await client.closed();
    await limiter.release(await limiter.acquire('all'));
  });

  needs('brokenStreams')('a stream that breaks is a failed request, a stream that ends is not', async () => {
    const limiter = limiterOf('api', hourly(2));
    let stream = new PassThrough();
    await start({
      limits: [{ limiter, limitType: 'METHOD', skipFailedRequests: true }],
      handler: () => stream,
    });
    const serve = async (end: () => void) => {
      stream = new PassThrough();
      const client = new RawClient(url());
      client.send('/', { Connection: 'close' });
      stream.write('first');
      await client.until(/first/);
      end();
      await client.closed();
    };
    await serve(() => stream.destroy(new Error('the disk is gone')));
    await eventually(async () => (await limiter.peek('all')).remaining === 2);
    await serve(() => stream.end());
    await serve(() => stream.end());
    expect(await limiter.peek('all')).toMatchObject({ remaining: 0 });
  });
});
