import { concurrency, type Policy, type RateLimiter } from '../../../packages/core/src/index.js';
import { within } from '../../support/within.js';
import { eventually, gate, RawClient, visitor } from './clients.js';
import { hourly, onEachAdapter } from './on-each-framework.js';

const busy = (limit: number) => concurrency({ limit, lease: '1h' });

onEachAdapter(({ start, url, limiter: limiterOf, needs }) => {
  const free = (limiter: RateLimiter, remaining: number) =>
    eventually(async () => (await limiter.peek('all')).remaining === remaining);

  test('a client that leaves while it sends its head or body takes no permits, or they are returned', async () => {
    const limiter = limiterOf('busy', busy(1));
    const client = await start({ limits: [{ limiter, limitType: 'METHOD' }] });
    for (const begun of [
      'GET / HTTP/1.1\r\nHost',
      'POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{"half":',
      'POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"ha',
    ]) {
      const raw = new RawClient(url());
      raw.write(begun);
      raw.leave();
    }
    await eventually(async () => (await client.get('/')).status === 200);
    await free(limiter, 1);
  });

  test('a client that leaves after its response releases its permit once', async () => {
    const limiter = limiterOf('busy', busy(2));
    const held = await limiter.acquire('all');
    await start({ limits: [{ limiter, limitType: 'METHOD' }] });
    const raw = new RawClient(url());
    raw.send();
    await raw.until(/"ok":true/);
    raw.leave();
    await free(limiter, 1);
    await limiter.release(held);
    await free(limiter, 2);
  });

  const leftBehind: [string, object, number][] = [
    ['counts with skipSuccessfulRequests', { skipSuccessfulRequests: true }, 2],
    [
      'counts with skipSuccessfulRequests, whatever requestWasSuccessful says',
      { skipSuccessfulRequests: true, requestWasSuccessful: () => true },
      2,
    ],
    ['is refunded with skipFailedRequests', { skipFailedRequests: true }, 3],
    [
      'counts with skipFailedRequests if requestWasSuccessful says so',
      { skipFailedRequests: true, requestWasSuccessful: () => true },
      2,
    ],
    ['holds nothing', { policy: busy(3) }, 3],
  ];

  needs('handlerAfterLeaving').each(leftBehind)(
    'a client that leaves while its decision is pending %s',
    async (_, options, remaining) => {
      const { policy = hourly(3), ...more } = options as { policy?: Policy };
      const limiter = limiterOf('left', policy);
      const { open, reached, pass } = gate();
      let closed = () => {};
      const gone = new Promise<void>((resolve) => {
        closed = resolve;
      });
      let handled = () => {};
      const served = new Promise<void>((resolve) => {
        handled = resolve;
      });
      await start({
        limits: [{ limiter, limitType: 'METHOD', skip: async () => !(await pass()), ...more }],
        before: (raw) => raw.once('close', closed),
        handler: () => {
          handled();
          return { ok: true };
        },
      });
      const { leave } = visitor(url());
      await reached();
      leave();
      await within(gone, 'the connection closes');
      open();
      await within(served, 'the handler is called');
      await free(limiter, remaining);
      for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
      expect(await limiter.peek('all')).toMatchObject({ remaining });
    },
  );

  test('20 clients that leave at once release all their permits', async () => {
    const limiter = limiterOf('busy', busy(20));
    const { open, pass } = gate();
    let arrived = 0;
    await start({
      limits: [{ limiter, limitType: 'METHOD' }],
      handler: () => {
        arrived += 1;
        return pass();
      },
    });
    const all = Array.from({ length: 20 }, () => new RawClient(url()));
    for (const raw of all) raw.send();
    await eventually(async () => arrived === 20);
    expect(await limiter.peek('all')).toMatchObject({ remaining: 0 });
    for (const raw of all) raw.leave();
    await free(limiter, 20);
    open();
  });

  test('pipelined requests of a broken connection release their permits', async () => {
    const limiter = limiterOf('busy', busy(3));
    const { open, pass } = gate();
    let arrived = 0;
    await start({
      limits: [{ limiter, limitType: 'METHOD' }],
      handler: () => {
        arrived += 1;
        return pass();
      },
    });
    const raw = new RawClient(url());
    for (let i = 0; i < 3; i += 1) raw.send();
    await eventually(async () => arrived === 3);
    raw.leave();
    await free(limiter, 3);
    open();
  });

  test('each request of a connection counts, pipelined or not', async () => {
    await start({ limits: [{ policy: hourly(3) }] });
    const raw = new RawClient(url());
    raw.send();
    await raw.until(/"ok":true/);
    for (let i = 0; i < 3; i += 1) raw.send();
    raw.send('/', { Connection: 'close' });
    const answers = [...(await raw.closed()).matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status);
    expect(answers).toEqual(['200', '200', '200', '429', '429']);
  });

  test('a response that was sent before the limits stays as it is', async () => {
    let early = true;
    const limiter = limiterOf('api', hourly(9));
    const client = await start({
      limits: [
        { limiter, limitType: 'METHOD' },
        { name: 'none', policy: hourly(1), cost: 2 },
      ],
      before: (raw) => {
        if (early) raw.writeHead(200).end('{"early":true}');
      },
    });
    const { headers, text } = await client.get('/').expect(200);
    expect(text).toBe('{"early":true}');
    expect(headers).not.toHaveProperty('ratelimit');
    early = false;
    await client.get('/').expect(429);
  });

  test('a denial ends a response that has sent its headers but not its body', async () => {
    const client = await start({
      limits: [{ policy: hourly(1), cost: 2, limitType: 'METHOD' }],
      before: (raw) => {
        raw.writeHead(200).write('{"early"');
        raw.once('close', () => raw.end(':true}')); // too late
      },
    });
    const { text } = await client.get('/').expect(200);
    expect(text).toBe('{"early"');
    await client.get('/').expect(200);
  });
});
