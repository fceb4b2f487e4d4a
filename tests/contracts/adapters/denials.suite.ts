import { Messages } from '../../support/messages.js';
import { uniqueName } from '../../support/redis-url.js';
import { hourly, onEachAdapter } from './on-each-framework.js';

type Body = { readonly text?: string; readonly body: unknown };
/** supertest gives bytes for a type that it does not know. */
const textOf = ({ text, body }: Body) => text ?? String(body);

onEachAdapter(({ start, headerOf, decisionOf }) => {
  test('onLimited receives each denial before the response is sent', async () => {
    const denials: unknown[] = [];
    const client = await start({
      limits: [
        {
          name: 'api',
          policy: hourly(1),
          onLimited: async (...args: unknown[]) => {
            await new Promise(setImmediate);
            denials.push([headerOf(args[0], 'x-who'), args.at(-1)]);
          },
        },
      ],
    });
    await client.get('/').expect(200);
    expect(denials).toEqual([]);
    await client.get('/').set('x-who', 'ann').expect(429);
    await client.get('/').set('x-who', 'bob').expect(429);
    expect(denials).toMatchObject([
      ['ann', { allowed: false, name: 'api', retryAfter: 3_600_000 }],
      ['bob', { allowed: false, name: 'api' }],
    ]);
  });

  test('repeated denials block for longer each time, and Retry-After is the end of the block', async () => {
    const escalate = { after: 2, within: '1h', block: ['2h', '3h'] } as const;
    const limits = { first: { policy: hourly(1), escalate }, second: { policy: hourly(100) } };
    for (const limit of [
      { name: 'one', policy: hourly(1), escalate },
      { name: 'several', limits },
    ]) {
      const client = await start({ limits: [limit] });
      await client.get('/').expect(200);
      await client.get('/').expect(429).expect('Retry-After', '3600');
      await client.get('/').expect(429).expect('Retry-After', '7200');
      const { body } = await client.get('/').expect(429).expect('Retry-After', '7200');
      expect(body).toMatchObject({ status: 429 });
    }
    const waits: unknown[] = [];
    const onLimited = (...args: unknown[]) => waits.push((args.at(-1) as { retryAfter: number }).retryAfter);
    const dry = await start({
      limits: [{ name: 'dry', policy: hourly(1), escalate, dryRun: true, onLimited }],
    });
    for (let i = 0; i < 4; i += 1) await dry.get('/').expect(200);
    expect(waits).toEqual(Array(3).fill(3_600_000));
  });

  test('a problem adds Accept to the Vary header of the response', async () => {
    const client = await start({ limits: [{ policy: hourly(1) }, { name: 'none', policy: hourly(1) }] });
    expect((await client.get('/').expect(200)).headers.vary ?? '').not.toMatch(/accept(?!-)/i);
    await client
      .get('/')
      .set('accept', 'text/html')
      .expect(429)
      .expect('Vary', /^Accept$/i);
    await client
      .get('/')
      .expect(429)
      .expect('Vary', /^Accept$/i);
  });

  test('a custom message does not add Accept to Vary', async () => {
    const client = await start({ limits: [{ policy: hourly(1), message: 'later' }] });
    await client.get('/').expect(200);
    expect((await client.get('/').expect(429)).headers).not.toHaveProperty('vary');
  });

  test('an error of onLimited fails the request, and never lets it through', async () => {
    const handler = jest.fn(() => ({}));
    const onLimited = () => Promise.reject(new Error('no log'));
    const client = await start({ limits: [{ policy: hourly(1), onLimited }], handler });
    await client.get('/').expect(200);
    await client.get('/').expect(500);
    expect(handler).toHaveBeenCalledTimes(1);
  });

  test('dryRun counts and calls onLimited, denies nothing and sets no headers', async () => {
    const onLimited = jest.fn();
    const client = await start({
      limits: [{ policy: hourly(1), dryRun: true, onLimited, legacyHeaders: true }],
    });
    for (let i = 0; i < 3; i += 1) {
      const { headers } = await client.get('/').expect(200, { ok: true });
      expect(Object.keys(headers).filter((name) => /ratelimit|retry-after/.test(name))).toEqual([]);
    }
    expect(onLimited).toHaveBeenCalledTimes(2);
    expect(onLimited.mock.calls[0].at(-1)).toMatchObject({ allowed: false, remaining: 0 });
  });

  test('a dry run is published with the mode shadow, with and without a cost, and others with enforce', async () => {
    const name = uniqueName('shadow');
    const messages = new Messages(name);
    try {
      const limit = { name, policy: hourly(9), onLimited: () => {} };
      for (const more of [{ dryRun: true }, { dryRun: true, cost: 2 }, { dryRun: true, cost: () => 2 }, {}])
        await (await start({ limits: [{ ...limit, ...more }] })).get('/').expect(200);
      expect(messages.on('sluice:decision').map(({ mode, cost }) => [mode, cost])).toEqual([
        ['shadow', 1],
        ['shadow', 2],
        ['shadow', 2],
        ['enforce', 1],
      ]);
    } finally {
      messages.stop();
    }
  });

  test.each([
    ['text', 'Slow down.', /^text\/plain; charset=utf-8$/i, 'Slow down.'],
    ['an object', { error: 'slow' }, /^application\/json/, '{"error":"slow"}'],
    ['a function', () => 'Slow.', /^text\/plain; charset=utf-8$/i, 'Slow.'],
    ['an async function that returns an object', async () => ({ at: 1 }), /^application\/json/, '{"at":1}'],
  ])('the message may be %s', async (_, message, type, body) => {
    const client = await start({ limits: [{ policy: hourly(1), message }] });
    await client.get('/').expect(200);
    const denied = await client
      .get('/')
      .set('Accept', 'text/html')
      .expect(429)
      .expect('Content-Type', type)
      .expect('Retry-After', '3600');
    expect(denied.text).toBe(body);
  });

  test('a message function receives the request and the decision', async () => {
    const message = (...args: unknown[]) => {
      const { name } = args.at(-1) as { name: string };
      return `${headerOf(args[0], 'x-who')} ${name}`;
    };
    const client = await start({ limits: [{ name: 'api', policy: hourly(1), message }] });
    await client.get('/').expect(200);
    await client.get('/').set('x-who', 'ann').expect(429, 'ann api');
  });

  test('onLimited and message find the decision on a denied request', async () => {
    const seen: unknown[] = [];
    const note = (...args: unknown[]) => {
      seen.push([decisionOf(args[0]), args.at(-1)]);
      return 'Slow.';
    };
    const limit = { name: 'api', policy: hourly(1) };
    const client = await start({ limits: [{ ...limit, message: note, onLimited: note }] });
    await client.get('/').expect(200);
    await client.get('/').expect(429, 'Slow.');
    expect(seen).toMatchObject(Array(2).fill([{ allowed: false, name: 'api' }, { allowed: false }]));
    for (const [found, passed] of seen as [object, object][]) expect(found).toBe(passed);
  });

  test('a handler finds the denial on the request', async () => {
    const client = await start({
      limits: [{ name: 'api', policy: hourly(1) }],
      denied: (decision, request) => ({ same: decisionOf(request) === decision, name: decision.name }),
    });
    await client.get('/').expect(200);
    expect((await client.get('/')).body).toEqual({ same: true, name: 'api' });
  });

  test.each([undefined, 5, null])(
    'a message function that returns %p never lets the request through',
    async (returned) => {
      const handler = jest.fn(() => ({}));
      const client = await start({ limits: [{ policy: hourly(1), message: () => returned }], handler });
      await client.get('/').expect(200);
      await client.get('/').expect(returned === undefined ? 429 : 500);
      expect(handler).toHaveBeenCalledTimes(1);
    },
  );

  test('statusCode is the status of denials, also in the problem', async () => {
    const client = await start({ limits: [{ policy: hourly(1), statusCode: 503 }] });
    await client.get('/').expect(200);
    const denied = await client.get('/').expect(503).expect('Retry-After', '3600');
    expect(JSON.parse(textOf(denied))).toMatchObject({ status: 503, title: 'Service Unavailable' });
  });

  test('a handler answers denials itself, with the headers set', async () => {
    const client = await start({
      limits: [{ name: 'api', policy: hourly(1) }],
      denied: async ({ name, retryAfter }) => ({ name, retryAfter }),
    });
    await client.get('/').expect(200, { ok: true });
    const { body } = await client
      .get('/')
      .expect('RateLimit', '"api";r=0;t=3600')
      .expect('Retry-After', '3600');
    expect(body).toEqual({ name: 'api', retryAfter: 3_600_000 });
  });

  test('a handler that fails never lets the request through', async () => {
    const handler = jest.fn(() => ({}));
    const denied = () => Promise.reject(new Error('no words'));
    const client = await start({ limits: [{ policy: hourly(1) }], denied, handler });
    await client.get('/').expect(200);
    await client.get('/').expect(500);
    expect(handler).toHaveBeenCalledTimes(1);
  });
});
