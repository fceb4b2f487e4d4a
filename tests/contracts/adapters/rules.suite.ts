import { fixedWindow } from '../../../packages/core/src/index.js';
import { parseRules, Rules } from '../../../packages/rules/src/index.js';
import { eventually } from '../../support/eventually.js';
import type { Limit, Service } from './frameworks/framework.js';
import { onEachAdapter } from './on-each-framework.js';

const DOCUMENT = `
name: shop
hashTag: shop
rules:
  - name: perUser
    match: { path: /v1/* }
    key: USER
    limit: { fixedWindow: { limit: 2, window: 1h } }
    reply: { status: 420, body: { error: slow down }, headers: { x-upgrade: /plans } }
  - name: orders
    match: { method: POST, path: /v1/:shop/orders }
    key: '#{params.shop}'
    limits:
      perHour: { fixedWindow: { limit: 3, window: 1h } }
      perDay: { fixedWindow: { limit: 9, window: 1d } }
  - name: health
    match: { path: /v1/health }
    unlimited: true
  - name: next
    mode: shadow
    compare: perUser
    limit: { fixedWindow: { limit: 1, window: 1h } }
`;

onEachAdapter(
  ({ start, serve: serveOnce, place, advance, asleep, needs, names }) => {
    const rulesOf = (text = DOCUMENT) => {
      const { name: _, ...options } = place();
      return new Rules(text, options);
    };
    const serve = async (options: object = {}) => {
      const rules = rulesOf();
      const client = await start({ limits: [{ rules, ...options }] });
      const post = (path: string, user: string) => client.post(path).set('x-user', user);
      return { rules, client, post };
    };

    test('matching rules make one decision, and a rule that denies takes nothing from the others', async () => {
      const { client, post, rules } = await serve();
      const { headers } = await post('/v1/a/orders', 'ann').expect(200);
      expect(headers.ratelimit).toBe(
        '"shop.perUser";r=1;t=3600, "shop.orders.perHour";r=2;t=3600, "shop.orders.perDay";r=8;t=86400',
      );
      await post('/v1/a/orders', 'ann').expect(200);
      const denied = await post('/v1/a/orders', 'ann').expect(420);
      expect(denied.body).toEqual({ error: 'slow down' });
      expect(denied.headers).toMatchObject({ 'x-upgrade': '/plans', 'retry-after': '3600' });
      expect(await rules.limiters.orders!.peek('a')).toMatchObject({ remaining: 1 });
      await post('/v1/a/orders', 'bob').expect(200);
      const other = await post('/v1/a/orders', 'eve').expect(429);
      expect(JSON.parse(other.text ?? String(other.body))['violated-policies']).toEqual([
        'shop.orders.perHour',
      ]);
      expect(other.headers).not.toHaveProperty('x-upgrade');
      await advance('1h');
      await post('/v1/a/orders', 'ann').expect(200);
      for (const path of ['/v1/health', '/elsewhere']) {
        const free = await client.get(path).expect(200);
        expect(free.headers).not.toHaveProperty('ratelimit');
      }
    });

    test('a key that the client did not send is a 400, and a missing user a 500', async () => {
      const rules = rulesOf(`
rules:
  - name: phone
    match: { path: /phone }
    key: '#{body.phone}'
    limit: { fixedWindow: { limit: 1, window: 1h } }
  - name: user
    match: { path: /user }
    key: USER
    limit: { fixedWindow: { limit: 1, window: 1h } }
`);
      const client = await start({ limits: [{ rules, validate: false }] });
      await client.post('/phone').send({}).expect(400);
      await client.post('/user').expect(500);
      await client.post('/phone').send({ phone: '1' }).expect(200);
      await client.post('/phone').send({ phone: '1' }).expect(429);
    });

    needs('trustProxy')(
      'a rule counts by user, otherwise by address; one network and one user have exceptions',
      async () => {
        const rules = rulesOf(`
plans: { free: {}, pro: {} }
defaultPlan: free
rules:
  - name: api
    match: { path: /v1/* }
    key: [USER, IP]
    limit: { fixedWindow: { limit: 1, window: 1h } }
  - name: office
    match: { ip: [198.51.100.0/24, '2001:db8::/32'] }
    unlimited: true
  - name: acme
    match: { path: /v1/*, user: acme }
    key: USER
    replaces: [api]
    limit: { fixedWindow: { limit: 2, window: 1h } }
  - name: exports
    match: { path: /export, query: { format: [csv, xls*] }, plan: free }
    plan: "#{headers['x-plan']}"
    key: '#{cookies.session}'
    limit: { fixedWindow: { limit: 1, window: 1h } }
`);
        const client = await start({ trustProxy: true, limits: [{ rules }] });
        const from = (ip: string, path = '/v1/a') => client.get(path).set('X-Forwarded-For', ip);
        await from('192.0.2.1').expect(200);
        await from('192.0.2.1').expect(429);
        await from('192.0.2.9').set('x-user', '192.0.2.1').expect(200);
        await from('192.0.2.8').set('x-user', '192.0.2.1').expect(429);
        for (const ip of ['198.51.100.7', '::ffff:198.51.100.7', '2001:DB8::7']) {
          const { headers } = await from(ip).expect(200);
          expect(headers).not.toHaveProperty('ratelimit');
        }
        const acme = () => from('192.0.2.1').set('x-user', 'acme');
        await acme().expect(200);
        await acme().expect(200);
        await acme().expect(429);
        const exported = (query: string) => client.get(`/export?${query}`).set('Cookie', 'session=s%31');
        await exported('format=json').expect(200);
        await exported('format=csv').expect(200);
        await exported('format=xlsx&format=json').expect(429);
        await exported('format=csv').set('x-plan', 'pro').expect(200);
        await client.get('/export?format=csv').expect(400);
      },
    );

    test('a rule with skipSuccessfulRequests refunds its own permits only', async () => {
      const rules = rulesOf(`
hashTag: a
rules:
  - name: login
    match: { path: /login }
    skipSuccessfulRequests: true
    limit: { fixedWindow: { limit: 2, window: 1h } }
  - name: downloads
    match: { path: /login }
    skipFailedRequests: true
    limit: { concurrency: { limit: 9 } }
  - name: api
    match: { path: /* }
    limit: { fixedWindow: { limit: 5, window: 1h } }
  - name: next
    mode: shadow
    compare: login
    limit: { fixedWindow: { limit: 2, window: 1h } }
`);
      let code = 200;
      const handler: Service['handler'] = (_decision, { status }) => {
        status(code);
        return {};
      };
      const client = await start({ limits: [{ rules }], handler });
      const leaves = (...numbers: number[]) =>
        eventually(async () => {
          const limiters = ['login', 'downloads', 'api', 'next'].map((name) => rules.limiters[name]!);
          const left = await Promise.all(limiters.map((limiter) => limiter.peek('127.0.0.1')));
          return left.map(({ remaining }) => remaining).join() === numbers.join();
        });
      for (let i = 1; i < 4; i += 1) {
        await client.get('/login').expect(200);
        await leaves(2, 9, 5 - i, 2);
      }
      code = 401;
      await client.get('/login').expect(401);
      await leaves(1, 9, 1, 1);
    });

    test('a request waits up to the timeout of its rule, with several rules up to the shortest', async () => {
      const rules = rulesOf(`
hashTag: a
rules:
  - name: export
    match: { path: /export/* }
    key: METHOD
    timeout: 2h
    limit: { fixedWindow: { limit: 1, window: 1h } }
  - name: soon
    match: { path: /export/soon }
    timeout: 30m
    limit: { fixedWindow: { limit: 100, window: 1h } }
  - name: next
    mode: shadow
    compare: export
    limit: { fixedWindow: { limit: 1, window: 1h } }
`);
      const client = await start({ limits: [{ rules, timeout: 1 }] });
      await client.get('/export/a').expect(200);
      await client.get('/export/soon').expect(429);
      const waiting = client.get('/export/a').then(({ status }) => status);
      await asleep(1);
      await advance('1h');
      expect(await waiting).toBe(200);
      const dry = await start({ limits: [{ rules, dryRun: true }] });
      await dry.get('/export/a').expect(200);
    });

    test("a rule's jitter adds to Retry-After, and never makes it earlier", async () => {
      const random = jest.spyOn(Math, 'random').mockReturnValue(0.5);
      try {
        const rules = rulesOf(`
hashTag: a
rules:
  - { name: a, match: { path: /a }, limit: { fixedWindow: { limit: 0, window: 1h } } }
  - { name: b, match: { path: /b }, limit: { fixedWindow: { limit: 1, window: 1h } } }
  - { name: c, match: { path: /c }, reply: { retryAfterJitter: 0.2 }, limit: { fixedWindow: { limit: 1, window: 1h } } }
`);
        const client = await start({ limits: [{ rules, retryAfterJitter: 0.1 }] });
        expect((await client.get('/a').expect(429)).headers).not.toHaveProperty('retry-after');
        for (const [path, wait] of [
          ['/b', '3780'],
          ['/c', '3960'],
        ] as const) {
          await client.get(path).expect(200);
          const { headers, body, text } = await client.get(path).expect(429);
          expect(headers['retry-after']).toBe(wait);
          expect(headers.ratelimit).toMatch(`;r=0;t=${wait}`);
          expect(JSON.parse(text ?? String(body)).detail).toBe(`Try again in ${wait} s.`);
        }
      } finally {
        random.mockRestore();
      }
    });

    test('lists, message, statusCode and dryRun work as with a policy', async () => {
      const { post } = await serve({ denyList: ['mallory'], allowList: ['root'] });
      await post('/v1/a', 'mallory').expect(403);
      for (let i = 0; i < 4; i += 1) await post('/v1/a', 'root').expect(200);
      await post('/v1/health', 'mallory').expect(200); // it has no key there
      const denials: unknown[] = [];
      const dry = await serve({ dryRun: true, onLimited: (...all: unknown[]) => denials.push(all.at(-1)) });
      for (let i = 0; i < 3; i += 1) {
        const { headers } = await dry.post('/v1/b', 'ann').expect(200);
        expect(headers).not.toHaveProperty('ratelimit');
      }
      expect(denials).toMatchObject([{ name: 'shop', policy: 'perUser', allowed: false }]);
      const own = await serve({ message: 'wait', statusCode: 499 });
      for (let i = 0; i < 3; i += 1) await own.post('/v1/a/orders', `user-${i}`).expect(200);
      await own.post('/v1/a/orders', 'eve').expect(499, 'wait');
    });

    test('rules can change between two requests, and the count stays', async () => {
      const { rules, post } = await serve();
      await post('/v1/a', 'ann').expect(200);
      await post('/v1/a', 'ann').expect(200);
      await post('/v1/a', 'ann').expect(420);
      rules.replace(parseRules(DOCUMENT.replace('limit: 2', 'limit: 4')));
      const { headers } = await post('/v1/a', 'ann').expect(200);
      expect(headers.ratelimit).toBe('"shop.perUser";r=1;t=3600');
    });

    test('requests that do not count are refunded in all their rules', async () => {
      const { rules, post } = await serve({ skipSuccessfulRequests: true });
      for (let i = 0; i < 4; i += 1) await post('/v1/a/orders', 'ann').expect(200);
      expect(await rules.limiters.perUser!.peek('ann')).toMatchObject({ remaining: 2 });
      expect(await rules.limiters.next!.peek('ann')).toMatchObject({ remaining: 1 });
    });

    test('options that have no effect with rules are refused when the limit is created', async () => {
      const policy = fixedWindow({ limit: 1, window: '1h' });
      for (const [options, message] of [
        [{ policy }, 'pass rules or policy, not both'],
        [{ keyPrefix: 'a' }, 'keyPrefix has no effect with rules'],
      ] as const) {
        await expect(serveOnce({ limits: [{ rules: rulesOf(), ...options } as Limit] })).rejects.toThrow(
          message,
        );
      }
    });

    needs('names')("the adapter's own name for a number of requests is refused beside rules", async () => {
      await expect(serveOnce({ limits: [{ rules: rulesOf(), [names.limit]: 5 } as Limit] })).rejects.toThrow(
        `pass ${names.limit} or rules, not both`,
      );
    });
  },
  ['memory'],
);
