import { parseList } from 'structured-headers';
import supertest from 'supertest';
import {
  fixedWindow,
  KeyResolutionError,
  ManualClock,
  memoryStore,
  RateLimiter,
  redisStore,
} from '../../packages/core/src/index.js';
import { CountLimit } from '../../packages/decorators/src/index.js';
import { freePort } from '../support/redis/free-port.js';
import { redisUrl, uniqueName } from '../support/redis-url.js';
import { adapters, type Running, type Service } from './adapters.js';

describe.each(adapters)('$name', ({ serve }) => {
  let clock: ManualClock;
  let running: Running | undefined;
  const policy = (limit: number) => fixedWindow({ limit, window: '10s' });
  const memory = () => memoryStore({ clock });

  const start = async (service: Service) => {
    running = await serve(service);
    return supertest(running.url);
  };

  beforeEach(() => {
    clock = new ManualClock();
  });
  afterEach(async () => {
    await running?.close();
    running = undefined;
  });

  test('lets the limit pass, then answers 429 until Retry-After', async () => {
    const client = await start({ limits: [{ name: 'demo', policy: policy(2), store: memory() }] });
    await client.get('/').expect(200, { ok: true }).expect('RateLimit', '"demo";r=1;t=10');
    await clock.advance('2500ms');
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
    await clock.advance('7499ms');
    await client.get('/').expect(429).expect('Retry-After', '1');
    await clock.advance('1ms');
    const again = await client.get('/').expect(200);
    expect(again.headers).not.toHaveProperty('retry-after');
  });

  test('HEAD counts and is answered without a body', async () => {
    const client = await start({ limits: [{ policy: policy(1) }] });
    await client.head('/').expect(200);
    const denied = await client.head('/').expect(429).expect('Retry-After', '10');
    expect(denied.text ?? '').toBe('');
  });

  test('tells the handler the decision', async () => {
    const client = await start({ limits: [{ policy: policy(5) }], handler: (decision) => ({ decision }) });
    const { body } = await client.get('/').expect(200);
    expect(body.decision).toMatchObject({ allowed: true, name: 'default', limit: 5, remaining: 4 });
  });

  test('counts by the address that the framework trusts, IPv6 by subnet', async () => {
    const client = await start({ trustProxy: true, limits: [{ policy: policy(1) }] });
    const from = (address: string) => client.get('/').set('X-Forwarded-For', address);
    await from('2001:db8::1').expect(200);
    await from('2001:db8::ffff:2').expect(429);
    await from('2001:db8:0:1::1').expect(200);
    await from('192.0.2.1').expect(200);
    await from('::ffff:192.0.2.1').expect(429);
    await from('spoofed, 192.0.2.1').expect(429);
  });

  test('an address from a proxy that is not trusted changes nothing', async () => {
    const client = await start({ limits: [{ policy: policy(1) }] });
    await client.get('/').set('X-Forwarded-For', '192.0.2.1').expect(200);
    await client.get('/').set('X-Forwarded-For', '192.0.2.2').expect(429);
  });

  test('counts by a key expression; what is missing or no plain value is a 400', async () => {
    const client = await start({ limits: [{ policy: policy(1), key: '#{query.phone}' }] });
    await client.get('/?phone=1').expect(200);
    await client.get('/?phone=2').expect(200);
    await client.get('/?phone=1').expect(429);
    for (const path of [
      '/',
      '/?phone=',
      '/?phone=1&phone=2',
      '/?phone[]=1',
      '/?phone[a]=1',
      '/?__proto__=1',
    ]) {
      await client.get(path).expect(400);
    }
  });

  test('counts by a value of the body', async () => {
    const client = await start({ limits: [{ policy: policy(1), key: 'sms:#{body.phone}' }] });
    const send = (body: object) => client.post('/').send(body);
    await send({ phone: '1' }).expect(200);
    await send({ phone: 2 }).expect(200);
    await send({ phone: '1' }).expect(429);
    await send({ phone: ['1'] }).expect(400);
    await send({}).expect(400);
  });

  test('counts by user; nobody is a 400', async () => {
    const client = await start({ limits: [{ policy: policy(1), limitType: 'USER' }] });
    await client.get('/').set('x-user', 'ann').expect(200);
    await client.get('/').set('x-user', 'bob').expect(200);
    await client.get('/').set('x-user', 'ann').expect(429);
    await client.get('/').expect(400);
  });

  test('METHOD counts all together', async () => {
    const client = await start({ limits: [{ policy: policy(2), limitType: 'METHOD' }] });
    await client.get('/a').set('x-user', 'ann').expect(200);
    await client.post('/b').set('x-user', 'bob').expect(200);
    await client.get('/c').expect(429);
  });

  test('calls keyGenerator, cost and skip with what the framework gives', async () => {
    const client = await start({
      limits: [
        {
          policy: policy(10),
          keyGenerator: ({ headers }) => String(headers['x-key']),
          cost: async ({ headers }) => Number(headers['x-cost']),
          skip: ({ headers }) => headers['x-skip'] === 'yes',
        },
      ],
    });
    const get = (key: string, cost: string) => client.get('/').set({ 'x-key': key, 'x-cost': cost });
    await get('a', '6').expect(200);
    await get('a', '5').expect(429);
    await get('b', '5').expect(200);
    await get('a', '4').expect(200);
    const skipped = await get('a', '9').set('x-skip', 'yes').expect(200);
    expect(skipped.headers).not.toHaveProperty('ratelimit');
    const never = await get('a', '11').expect(429);
    expect(never.headers).not.toHaveProperty('retry-after');
  });

  test('several limits each list themselves; the one that denies sets Retry-After', async () => {
    const client = await start({
      limits: [
        { name: 'minute', policy: fixedWindow({ limit: 20, window: '1m' }), store: memory() },
        { name: 'burst', policy: policy(1), store: memory() },
      ],
    });
    await client.get('/').expect(200);
    const { headers } = await client.get('/').expect(429).expect('Retry-After', '10');
    const named = (header: string) => parseList(headers[header]!).map(([name]) => name);
    expect(named('ratelimit')).toEqual(['minute', 'burst']);
    expect(named('ratelimit-policy')).toEqual(['minute', 'burst']);
  });

  test('a denial that the handler throws is a 429 with its headers', async () => {
    class Sms {
      @CountLimit({ key: '#{query.phone}', period: 60, limitType: 'CUSTOM', prefix: uniqueName('sms') })
      async send() {
        return { sent: true };
      }
    }
    const sms = new Sms();
    const client = await start({ handler: () => sms.send() });
    await client.get('/?phone=1').expect(200, { sent: true });
    const { headers } = await client
      .get('/?phone=1')
      .expect(429)
      .expect('Retry-After', /^(?:60|59)$/);
    expect(headers.ratelimit).toMatch(/;r=0;t=(?:60|59)$/);
    await client.get('/?phone=2').expect(200);
    await client.get('/').expect(400);
  });

  test('decorated methods know addresses, users and bodies of the current request', async () => {
    const prefix = uniqueName('mail');
    class Mail {
      @CountLimit({ period: 60, limitType: 'IP', prefix: `${prefix}:ip` })
      async byAddress() {
        return {};
      }

      @CountLimit({ period: 60, limitType: 'USER', prefix: `${prefix}:user` })
      async byUser() {
        return {};
      }

      @CountLimit({ period: 60, limitType: 'CUSTOM', key: '#{body.to}', prefix: `${prefix}:body` })
      async byBody() {
        return {};
      }
    }
    const mail = new Mail();
    const methods = [() => mail.byAddress(), () => mail.byUser(), () => mail.byBody()];
    let method = 0;
    const client = await start({ trustProxy: true, handler: () => methods[method]!() });
    const post = (address: string, user: string, to: string) =>
      client.post('/').set({ 'X-Forwarded-For': address, 'x-user': user }).send({ to });
    await post('192.0.2.1', 'ann', 'x').expect(200);
    await post('192.0.2.1', 'bob', 'y').expect(429);
    await post('192.0.2.2', 'ann', 'x').expect(200);
    method = 1;
    await post('192.0.2.1', 'ann', 'x').expect(200);
    await post('192.0.2.2', 'ann', 'y').expect(429);
    await post('192.0.2.1', 'bob', 'x').expect(200);
    method = 2;
    await post('192.0.2.1', 'ann', 'x').expect(200);
    await post('192.0.2.2', 'bob', 'x').expect(429);
    await post('192.0.2.1', 'ann', 'y').expect(200);
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

  test('a store that does not answer is a 503', async () => {
    const store = redisStore(`redis://127.0.0.1:${await freePort()}`);
    const client = await start({ limits: [{ name: 'down', policy: policy(1), store }] });
    await client.get('/').expect(503);
    await store.close();
  });

  test('a key generator that fails is an error, not an unlimited request', async () => {
    const handler = jest.fn(() => ({}));
    const keyGenerator = () => {
      throw new KeyResolutionError('no key');
    };
    const client = await start({ limits: [{ policy: policy(1), keyGenerator }], handler });
    await client.get('/').expect(400);
    expect(handler).not.toHaveBeenCalled();
  });

  test.each([undefined, null, 'route', 'router'])(
    'an option that throws %p is an error, not an unlimited request',
    async (thrown) => {
      const keyGenerator = () => Promise.reject(thrown);
      const client = await start({ limits: [{ policy: policy(1), keyGenerator }] });
      await client.get('/').expect(500);
    },
  );

  test('a limiter of ours can be given', async () => {
    const limiter = new RateLimiter({ name: 'mine', policy: policy(1) });
    const client = await start({ limits: [{ limiter, limitType: 'METHOD' }] });
    await client.get('/').expect(200);
    await client.get('/').expect(429);
    await limiter.reset('all');
    await client.get('/').expect(200);
    await limiter.close();
    await client.get('/').expect(500);
  });
});
