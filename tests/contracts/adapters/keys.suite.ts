import { hourly, onEachAdapter } from './on-each-framework.js';

onEachAdapter(({ start, needs, headerOf }) => {
  needs('trustProxy')('counts by the address that the framework trusts, IPv6 by subnet', async () => {
    const client = await start({ trustProxy: true, limits: [{ policy: hourly(1) }] });
    const from = (address: string) => client.get('/').set('X-Forwarded-For', address);
    await from('2001:db8::1').expect(200);
    await from('2001:db8::ffff:2').expect(429);
    await from('2001:db8:0:1::1').expect(200);
    await from('192.0.2.1').expect(200);
    await from('::ffff:192.0.2.1').expect(429);
    await from('spoofed, 192.0.2.1').expect(429);
  });

  test('X-Forwarded-For of an untrusted proxy changes nothing', async () => {
    const client = await start({ limits: [{ policy: hourly(1), validate: false }] });
    await client.get('/').set('X-Forwarded-For', '192.0.2.1').expect(200);
    await client.get('/').set('X-Forwarded-For', '192.0.2.2').expect(429);
  });

  test('counts by a key expression, and a missing or complex value is a 400', async () => {
    const client = await start({ limits: [{ policy: hourly(1), key: '#{query.phone}' }] });
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
    const client = await start({ limits: [{ policy: hourly(1), key: 'sms:#{body.phone}' }] });
    const send = (body: object) => client.post('/').send(body);
    await send({ phone: '1' }).expect(200);
    await send({ phone: 2 }).expect(200);
    await send({ phone: '1' }).expect(429);
    await send({ phone: ['1'] }).expect(400);
    await send({}).expect(400);
  });

  test('counts by user, and a missing user is a server error (500)', async () => {
    const client = await start({ limits: [{ policy: hourly(1), limitType: 'USER', validate: false }] });
    await client.get('/').set('x-user', 'ann').expect(200);
    await client.get('/').set('x-user', 'bob').expect(200);
    await client.get('/').set('x-user', 'ann').expect(429);
    await client.get('/').expect(500);
  });

  needs('trustProxy')(
    'a list of keys counts by the first key that the request has, and a user never shares the count of an address',
    async () => {
      const client = await start({
        trustProxy: true,
        limits: [{ policy: hourly(1), key: ['USER', "#{headers['x-device']}", 'IP'] }],
      });
      const from = (address: string) => client.get('/').set('X-Forwarded-For', address);
      await from('192.0.2.1').expect(200);
      await from('192.0.2.1').expect(429);
      await from('192.0.2.2').set('x-user', '192.0.2.1').expect(200);
      await from('192.0.2.3').set('x-user', '192.0.2.1').expect(429);
      await from('192.0.2.1').set('x-device', '192.0.2.1').expect(200);
      await from('192.0.2.1').set('x-device', 'ip:192.0.2.1').expect(200);
      await from('192.0.2.1').set('x-device', '').expect(429);
    },
  );

  test('counts by a cookie, decoded; the first of a name wins, and a missing one is a 400', async () => {
    const client = await start({ limits: [{ policy: hourly(1), key: '#{cookies.session}' }] });
    const get = (cookie: string) => client.get('/').set('Cookie', cookie);
    await get('theme=dark; session=a%20b').expect(200);
    await get('session="a b"; session=other').expect(429);
    await get('session=other').expect(200);
    await get('__proto__=a; session=%zz').expect(200);
    for (const cookie of ['theme=dark', 'session=', '__proto__=a', 'session']) await get(cookie).expect(400);
    await client.get('/').expect(400);
  });

  test('METHOD counts all requests together', async () => {
    const client = await start({ limits: [{ policy: hourly(2), limitType: 'METHOD' }] });
    await client.get('/a').set('x-user', 'ann').expect(200);
    await client.post('/b').set('x-user', 'bob').expect(200);
    await client.get('/c').expect(429);
  });

  test("calls keyGenerator, cost and skip with the framework's own arguments", async () => {
    const client = await start({
      limits: [
        {
          policy: hourly(10),
          keyGenerator: (request) => String(headerOf(request, 'x-key')),
          cost: async (request) => Number(headerOf(request, 'x-cost')),
          skip: (request) => headerOf(request, 'x-skip') === 'yes',
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
});
