import { parseList } from 'structured-headers';
import { fixedWindow, tokenBucket } from '../../../packages/core/src/index.js';
import { hourly, onEachAdapter } from './on-each-framework.js';

onEachAdapter(({ start, advance, needs }) => {
  const limits = {
    perIp: { policy: hourly(3) },
    perAccount: { policy: tokenBucket({ capacity: 2, refill: 2, every: '2h' }), key: '#{body.account}' },
    everybody: { policy: fixedWindow({ limit: 4, window: '1d' }), limitType: 'METHOD' as const },
  };

  needs('trustProxy')('each limit has its own key, and its item in the headers', async () => {
    const client = await start({ trustProxy: true, limits: [{ name: 'login', limits }] });
    const login = (address: string, account: string) =>
      client.post('/').set('X-Forwarded-For', address).send({ account });
    const { headers } = await login('192.0.2.1', 'ann').expect(200);
    expect(parseList(headers['ratelimit-policy']!)).toEqual([
      [
        'login.perIp',
        new Map([
          ['q', 3],
          ['w', 3600],
        ]),
      ],
      [
        'login.perAccount',
        new Map([
          ['q', 2],
          ['w', 7200],
        ]),
      ],
      [
        'login.everybody',
        new Map([
          ['q', 4],
          ['w', 86_400],
        ]),
      ],
    ]);
    expect(parseList(headers.ratelimit!)).toEqual([
      [
        'login.perIp',
        new Map([
          ['r', 2],
          ['t', 3600],
        ]),
      ],
      [
        'login.perAccount',
        new Map([
          ['r', 1],
          ['t', 3600],
        ]),
      ],
      [
        'login.everybody',
        new Map([
          ['r', 3],
          ['t', 86_400],
        ]),
      ],
    ]);
    await login('192.0.2.2', 'ann').expect(200);
    await login('192.0.2.3', 'ann').expect(429).expect('Retry-After', '3600');
    await login('192.0.2.3', 'bob').expect(200);
    await login('192.0.2.3', 'eve').expect(200);
    await login('192.0.2.4', 'dan').expect(429).expect('Retry-After', '86400');
  });

  needs('trustProxy')('a denial by one limit takes nothing from the others', async () => {
    const client = await start({ trustProxy: true, limits: [{ name: 'login', limits }] });
    const login = (address: string, account: string) =>
      client.post('/').set('X-Forwarded-For', address).send({ account });
    const left = (headers: Record<string, string>) =>
      Object.fromEntries(
        parseList(headers.ratelimit!).map(([name, parameters]) => [name, parameters.get('r')]),
      );
    await login('192.0.2.1', 'ann').expect(200);
    await login('192.0.2.2', 'ann').expect(200);
    for (let i = 0; i < 5; i += 1) {
      const denied = await login('192.0.2.3', 'ann').expect(429);
      expect(left(denied.headers)).toEqual({
        'login.perIp': 3,
        'login.perAccount': 0,
        'login.everybody': 2,
      });
      expect(JSON.parse(denied.text ?? String(denied.body))['violated-policies']).toEqual([
        'login.perAccount',
      ]);
    }
    await advance('1h');
    const again = await login('192.0.2.3', 'ann').expect(200);
    expect(left(again.headers)).toEqual({ 'login.perIp': 2, 'login.perAccount': 0, 'login.everybody': 1 });
  });

  test('a request without the key of one limit is a 400 and takes nothing', async () => {
    const client = await start({ limits: [{ name: 'login', limits }] });
    for (const body of [{}, { account: null }, { account: ['ann'] }, { account: {} }]) {
      await client.post('/').send(body).expect(400);
    }
    const { headers } = await client.post('/').send({ account: 'ann' }).expect(200);
    expect(headers.ratelimit).toMatch(/^"login\.perIp";r=2;.*"login\.everybody";r=3;/);
  });

  test('a limit can have several policies, and costs have the names of the limits', async () => {
    const client = await start({
      limits: [
        {
          name: 'api',
          limits: {
            user: {
              policies: { perHour: hourly(4), perDay: fixedWindow({ limit: 6, window: '1d' }) },
              limitType: 'USER',
            },
            all: { policy: hourly(9), limitType: 'METHOD' },
          },
          cost: { user: 2 },
        },
      ],
    });
    const get = () => client.get('/').set('x-user', 'ann');
    const { headers } = await get().expect(200);
    expect(parseList(headers.ratelimit!).map(([name, parameters]) => [name, parameters.get('r')])).toEqual([
      ['api.user.perHour', 2],
      ['api.user.perDay', 4],
      ['api.all', 8],
    ]);
    await get().expect(200);
    const denied = await get().expect(429);
    expect(JSON.parse(denied.text ?? String(denied.body))['violated-policies']).toEqual(['api.user.perHour']);
  });
});
