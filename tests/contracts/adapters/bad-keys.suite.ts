import { hourly, onEachAdapter } from './on-each-framework.js';

/** Texts that a store, a header or an object might take for something else. */
const HOSTILE = [
  '{',
  '}',
  '{a}',
  '*',
  'a:b',
  '\n',
  '\r\nDEL x',
  '\0',
  '__proto__',
  'constructor',
  '\ud800',
  '\ufffd',
  '😀',
  ' ',
  '%',
  '%7B',
];

onEachAdapter(({ start, methodOf }) => {
  test('a key of 10,000 characters counts apart from similar keys', async () => {
    const client = await start({ limits: [{ policy: hourly(1), key: '#{body.key}' }] });
    const send = (key: string) => client.post('/').send({ key });
    const long = 'k'.repeat(10_000);
    await send(long).expect(200);
    await send(long).expect(429);
    await send(`${long}k`).expect(200);
    await send(long.slice(1)).expect(200);
  });

  test('a hostile key counts apart from all other keys', async () => {
    const client = await start({ limits: [{ policy: hourly(1), key: '#{body.key}' }] });
    const send = (key: string) => client.post('/').send({ key });
    for (const key of HOSTILE) await send(key).expect(200);
    for (const key of HOSTILE) await send(key).expect(429);
    for (const key of HOSTILE) await send(`${key}.`).expect(200);
  });

  test('the number 7 and the text 7 are one key, and values that are neither number, text nor boolean are a 400', async () => {
    const client = await start({ limits: [{ policy: hourly(2), key: '#{body.key}' }] });
    const send = (key: unknown) => client.post('/').send({ key });
    await send(7).expect(200);
    await send('7').expect(200);
    await send(7).expect(429);
    await send(false).expect(200);
    for (const key of [null, '', [], ['7'], [7], {}, { toString: '7' }]) await send(key).expect(400);
  });

  test('a key that the body or the query does not have is a 400, whatever they contain', async () => {
    const handler = jest.fn(() => ({}));
    const client = await start({
      scopes: [{ at: '/api', routes: { '/x': [{ policy: hourly(1), key: '#{query.phone}' }] } }],
      limits: [{ policy: hourly(1), key: '#{body.key}', skip: (request) => methodOf(request) === 'GET' }],
      handler,
    });
    const bodies = [
      '[]',
      '["key"]',
      'null',
      '"text"',
      '7',
      'true',
      '[{"key":"a"}]',
      '{"__proto__":{"key":"a"}}',
    ];
    for (const body of bodies) {
      await client.post('/').set('Content-Type', 'application/json').send(body).expect(400);
    }
    await client.post('/').expect(400);
    const queries = [
      'phone[]=1',
      'phone[a]=1',
      'phone=',
      'phone',
      'phone=1&phone=1',
      'Phone=1',
      'constructor[name]=1',
      '',
    ];
    for (const query of queries) await client.get(`/api/x?${query}`).expect(400);
    expect(handler).not.toHaveBeenCalled();
  });

  test('a request without a user is a 500, and an empty user too', async () => {
    const handler = jest.fn(() => ({}));
    const client = await start({
      limits: [{ policy: hourly(1), limitType: 'USER', validate: false }],
      handler,
    });
    await client.get('/').expect(500);
    await client.get('/').set('x-user', '').expect(500);
    expect(handler).not.toHaveBeenCalled();
    await client.get('/').set('x-user', 'undefined').expect(200);
  });

  test('a keyGenerator that returns no plain value is a 500', async () => {
    const handler = jest.fn(() => ({}));
    const values = [undefined, null, '', {}, [], ['a'], Number.NaN, Symbol('a'), () => 'a', new Date(0)];
    let next = 0;
    const keyGenerator = () => values[next] as never;
    const client = await start({ limits: [{ policy: hourly(1), keyGenerator, validate: false }], handler });
    for (next = 0; next < values.length; next += 1) await client.get('/').expect(500);
    expect(handler).not.toHaveBeenCalled();
  });
});
