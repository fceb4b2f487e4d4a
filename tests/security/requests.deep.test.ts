import { RawClient } from '../contracts/adapters/clients.js';
import { hourly, onEachAdapter } from '../contracts/adapters/on-each-framework.js';

/** Names that every object inherits. */
const INHERITED = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'valueOf',
  '__defineGetter__',
];
const SECOND = 1_000;

onEachAdapter(({ start, url, needs, methodOf, headerOf }) => {
  test.each(INHERITED)('%s works as a key, and as a path finds nothing', async (name) => {
    const handler = jest.fn(() => ({}));
    const client = await start({
      limits: [
        {
          name: 'key',
          policy: hourly(2),
          key: '#{headers.x-key}',
          skip: (request) => !headerOf(request, 'x-key'),
        },
        ...['body', 'query', 'headers', 'params'].map((part) => ({
          name: part,
          policy: hourly(9),
          key: `#{${part}.${name}}`,
          validate: false,
          skip: (request: unknown) => headerOf(request, 'x-part') !== part,
        })),
      ],
      handler,
    });
    for (const status of [200, 200, 429]) await client.get('/').set('x-key', name).expect(status);
    expect(handler).toHaveBeenCalledTimes(2);
    for (const part of ['body', 'query', 'headers', 'params']) {
      // A missing route parameter is a server error.
      const status = part === 'params' ? 500 : 400;
      await client.post('/?a=1').set('x-part', part).send({ a: 1 }).expect(status);
    }
    expect(handler).toHaveBeenCalledTimes(2);
  });

  test('a body with prototype names pollutes nothing, and is a 400', async () => {
    const handler = jest.fn(() => ({}));
    const client = await start({ limits: [{ policy: hourly(1), key: '#{body.user.id}' }], handler });
    const bodies = [
      '{"__proto__":{"user":{"id":"a"}}}',
      '{"constructor":{"prototype":{"user":{"id":"a"}}}}',
      '{"user":{"__proto__":{"id":"a"}}}',
      '{"user":{"constructor":{"prototype":{"id":"a"}}}}',
      '{"user":[{"id":"a"}]}',
      '{"user":"id"}',
      '{"user":{"id":{"toString":"a"}}}',
      '{"user":{"id":["a"]}}',
    ];
    for (const body of bodies) {
      await client.post('/').set('Content-Type', 'application/json').send(body).expect(400);
    }
    expect(handler).not.toHaveBeenCalled();
    expect(({} as { user?: unknown; id?: unknown }).user).toBeUndefined();
    expect(({} as { user?: unknown; id?: unknown }).id).toBeUndefined();
  });

  test('a key expression in a request is plain text, and runs nothing', async () => {
    const client = await start({ limits: [{ policy: hourly(1), key: '#{headers.x-key}' }] });
    const payloads = [
      '#{user.id}',
      '$..[?(@.constructor.constructor("throw 1")())]',
      "$[?(p='globalThis.owned=1';a=''[['constructor']][['constructor']](p);a())]",
      '`1+1`',
      '$^~',
    ];
    for (const status of [200, 429]) {
      for (const payload of payloads) await client.get('/').set('x-key', payload).expect(status);
    }
    expect(globalThis).not.toHaveProperty('owned');
  });

  test('a very deep or wide body is answered quickly', async () => {
    const client = await start({
      limits: [
        {
          name: 'plain',
          policy: hourly(99),
          key: '#{body.key}',
          skip: (request) => methodOf(request) === 'PUT',
        },
        {
          name: 'wide',
          policy: hourly(99),
          key: '#{body.list[*][*].id}',
          skip: (request) => methodOf(request) !== 'PUT',
        },
      ],
    });
    const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
    const wide = `[${'[0],'.repeat(20_000)}[0]]`;
    const started = performance.now();
    for (const value of [deep, wide]) {
      for (const name of ['key', 'list']) {
        const body = `{"${name}":${value}}`;
        await client.post('/').set('Content-Type', 'application/json').send(body).expect(400);
        await client.put('/').set('Content-Type', 'application/json').send(body).expect(400);
      }
    }
    expect(performance.now() - started).toBeLessThan(20 * SECOND);
  });

  test('a key of 90 kB counts apart from similar keys, also with lists', async () => {
    const lists = { allowList: ['10.0.0.0/8', '{:'], denyList: ['2001:db8::/32', ':'] };
    const client = await start({ limits: [{ policy: hourly(1), key: '#{body.key}', ...lists }] });
    const long = '{:\ud83d\ude00}'.repeat(10_000);
    for (const status of [200, 429]) await client.post('/').send({ key: long }).expect(status);
    await client
      .post('/')
      .send({ key: `${long}.` })
      .expect(200);
  });

  test('a repeated header is one client, in any spelling and order', async () => {
    await start({ limits: [{ policy: hourly(1), key: '#{headers.x-key}' }] });
    const twice = async (...lines: string[]) => {
      const client = new RawClient(url());
      client.write(`GET / HTTP/1.1\r\nHost: a\r\n${lines.join('\r\n')}\r\nConnection: close\r\n\r\n`);
      return Number((await client.closed()).slice(9, 12));
    };
    expect(await twice('X-Key: a', 'x-key: b')).toBe(200);
    expect(await twice('x-KEY: a', 'X-KEY: b')).toBe(429);
    expect(await twice('X-Key: a, b')).toBe(429);
  });

  needs('trustProxy')(
    'every spelling of an address is one client, and an invalid address is a 400',
    async () => {
      const client = await start({ trustProxy: true, limits: [{ policy: hourly(1) }] });
      const from = async (address: string) => (await client.get('/').set('X-Forwarded-For', address)).status;
      const spellings = [
        '::ffff:c000:201',
        '::FFFF:192.0.2.1',
        '[::ffff:192.0.2.1]:80',
        '192.0.2.1:5678',
        '::ffff:192.0.2.1%eth0',
      ];
      expect(await from('192.0.2.1')).toBe(200);
      for (const address of spellings) expect([address, await from(address)]).toEqual([address, 429]);
      expect(await from('fe80::1%eth0')).toBe(200);
      for (const address of ['fe80::1%eth1', 'fe80::2', '[fe80::3]:1', 'FE80:0:0:0::4']) {
        expect([address, await from(address)]).toEqual([address, 429]);
      }
      const none = [
        '127.1',
        '0x7f000001',
        '0177.0.0.1',
        '3221225985',
        '192.0.2.1/32',
        '192.0.2.01',
        '::ffff:192.0.2',
        'null',
      ];
      for (const address of none) expect([address, await from(address)]).toEqual([address, 400]);
    },
  );
});
