import { hourly, onEachAdapter } from './on-each-framework.js';

onEachAdapter(({ start, needs, headerOf }) => {
  const addresses = ['192.0.2.7', '10.0.0.0/8', '2001:db8:1::/48', '::ffff:198.51.100.0/120'];
  const listed = ['192.0.2.7', '::ffff:192.0.2.7', '10.255.0.1', '2001:db8:1:2::3', '198.51.100.9'];
  const unlisted = ['192.0.2.8', '11.0.0.1', '2001:db8:2::1', '198.51.101.9'];

  needs('trustProxy')('addresses and ranges of the allowList are not counted', async () => {
    const client = await start({ trustProxy: true, limits: [{ policy: hourly(1), allowList: addresses }] });
    const from = (address: string) => client.get('/').set('X-Forwarded-For', address);
    for (const address of listed) {
      const { headers } = await from(address).expect(200);
      expect(headers).not.toHaveProperty('ratelimit');
      await from(address).expect(200);
    }
    for (const address of unlisted) {
      await from(address).expect(200);
      await from(address).expect(429);
    }
  });

  needs('trustProxy')(
    'addresses and ranges of the denyList are answered with 403, and take nothing',
    async () => {
      const handler = jest.fn(() => ({ ok: true }));
      const client = await start({
        trustProxy: true,
        limits: [{ policy: hourly(4), denyList: addresses, limitType: 'METHOD' }],
        handler,
      });
      const from = (address: string) => client.get('/').set('X-Forwarded-For', address);
      for (const address of listed) {
        const { headers, ...rest } = await from(address).expect(403);
        expect(headers['content-type']).toMatch(/^application\/problem\+json/);
        expect(headers).not.toHaveProperty('ratelimit');
        expect(headers).not.toHaveProperty('retry-after');
        expect(JSON.parse(rest.text ?? String(rest.body))).toEqual({
          type: 'about:blank',
          title: 'Forbidden',
          status: 403,
          detail: 'Requests from here are not served.',
        });
      }
      expect(handler).not.toHaveBeenCalled();
      for (const address of unlisted) await from(address).expect(200);
      await from(unlisted[0]!).expect(429);
    },
  );

  test('lists match keys literally', async () => {
    const client = await start({
      limits: [
        { policy: hourly(1), key: '#{query.phone}', allowList: ['110', '[a]'], denyList: ['666', 'eve'] },
      ],
    });
    for (const phone of ['110', '110', '[a]', '[a]']) await client.get('/').query({ phone }).expect(200);
    for (const phone of ['666', 'eve']) await client.get('/').query({ phone }).expect(403);
    await client.get('/?phone=Eve').expect(200);
    await client.get('/?phone=1').expect(200);
    await client.get('/?phone=1').expect(429);
  });

  test('an array in the query is a 400, and matches no entry of a list', async () => {
    const handler = jest.fn(() => ({}));
    const client = await start({
      limits: [{ policy: hourly(1), key: '#{query.phone}', allowList: ['110'], denyList: ['666'] }],
      handler,
    });
    for (const query of [
      'phone[]=110',
      'phone=110&phone=110',
      'phone[0]=110',
      'phone[a]=110',
      'phone[]=666',
    ]) {
      await client.get(`/?${query}`).expect(400);
    }
    expect(handler).not.toHaveBeenCalled();
  });

  test('an array that a keyGenerator returns is a 500, and matches no entry of a list', async () => {
    const handler = jest.fn(() => ({}));
    const keyGenerator = (request: unknown) => [headerOf(request, 'x-key')];
    const limits = [
      {
        policy: hourly(1),
        keyGenerator: keyGenerator as never,
        allowList: ['a'],
        denyList: ['b'],
        validate: false,
      },
    ];
    const client = await start({ limits, handler });
    await client.get('/').set('x-key', 'a').expect(500);
    await client.get('/').set('x-key', 'b').expect(500);
    expect(handler).not.toHaveBeenCalled();
  });

  test('a function decides for each request, also asynchronously', async () => {
    const client = await start({
      limits: [
        {
          policy: hourly(1),
          allowList: async (request) => headerOf(request, 'x-vip') === 'yes',
          denyList: (request) => headerOf(request, 'x-bot') === 'yes',
        },
      ],
    });
    const get = (headers: Record<string, string> = {}) => client.get('/').set(headers);
    await get().expect(200);
    await get().expect(429);
    await get({ 'x-vip': 'yes' }).expect(200);
    await get({ 'x-bot': 'yes' }).expect(403);
    await get({ 'x-bot': 'yes', 'x-vip': 'yes' }).expect(403);
  });

  test('a function receives the key as its last argument, or an empty text without a key', async () => {
    const keys: unknown[] = [];
    const allowList = (...args: readonly unknown[]) => {
      keys.push(args.at(-1));
      return args.at(-1) !== 'bob';
    };
    const client = await start({ limits: [{ policy: hourly(1), limitType: 'USER', allowList }] });
    for (const user of ['ann', 'ann', 'bob']) await client.get('/').set('x-user', user).expect(200);
    await client.get('/').set('x-user', 'bob').expect(429);
    await client.get('/').expect(200);
    expect(keys).toEqual(['ann', 'ann', 'bob', 'bob', '']);
  });

  test('a list function that rejects is a 500, not an unlimited request', async () => {
    const handler = jest.fn(() => ({}));
    const fails = () => Promise.reject(new Error('no list'));
    const client = await start({
      limits: [{ policy: hourly(1), allowList: fails as () => Promise<boolean> }],
      handler,
    });
    await client.get('/').expect(500);
    expect(handler).not.toHaveBeenCalled();
  });

  test('an address of the allowList needs no key', async () => {
    const client = await start({
      limits: [{ policy: hourly(1), limitType: 'USER', allowList: ['127.0.0.1', '::1'] }],
    });
    await client.get('/').expect(200);
    await client.get('/').expect(200);
  });
});
