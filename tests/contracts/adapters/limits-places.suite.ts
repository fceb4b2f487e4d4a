import { CombinedLimiter, concurrency } from '../../../packages/core/src/index.js';
import { eventually } from './clients.js';
import { hourly, onEachAdapter } from './on-each-framework.js';

onEachAdapter(({ start, place, limiter, headerOf }) => {
  const limits = { perIp: { policy: hourly(3) }, perAccount: { policy: hourly(2), key: '#{body.account}' } };

  test('a request returns the permits that it holds in one limit, and keeps those spent in another', async () => {
    const each = {
      atOnce: { policy: concurrency({ limit: 1, lease: '1h' }), limitType: 'METHOD' as const },
      perUser: { policy: hourly(2), limitType: 'USER' as const },
    };
    const client = await start({ limits: [{ name: 'reports', limits: each }] });
    const atOnce = limiter('reports.atOnce', each.atOnce.policy);
    for (const status of [200, 200, 429]) {
      await client.get('/').set('x-user', 'ann').expect(status);
      await atOnce.release(await atOnce.acquire('all'));
    }
    await client.get('/').set('x-user', 'bob').expect(200);
  });

  test('counts in the given store, by the names of the limit and its part', async () => {
    const client = await start({ limits: [{ ...place('login'), limits }] });
    await client.post('/').send({ account: 'ann' }).expect(200);
    const perAccount = limiter('login.perAccount', limits.perAccount.policy);
    expect(await perAccount.peek('ann')).toMatchObject({ remaining: 1 });
    await perAccount.reset('ann');
    const { headers } = await client.post('/').send({ account: 'ann' }).expect(200);
    expect(headers.ratelimit).toMatch(/"login\.perAccount";r=1;/);
  });

  test('counts by a CombinedLimiter that is passed in, and answers 503 when it is closed', async () => {
    const perUser = limiter('perUser', hourly(1));
    const all = limiter('all', hourly(2));
    const both = new CombinedLimiter({ perUser, all }, { name: 'both' });
    const keyGenerator = (request: unknown) => ({
      perUser: String(headerOf(request, 'x-user')),
      all: 'all',
    });
    const client = await start({ limits: [{ limiter: both, keyGenerator }] });
    const get = (user: string) => client.get('/').set('x-user', user);
    await get('ann').expect(200).expect('RateLimit', '"both.perUser";r=0;t=3600, "both.all";r=1;t=3600');
    await get('ann').expect(429).expect('RateLimit', '"both.perUser";r=0;t=3600, "both.all";r=1;t=3600');
    await get('bob').expect(200);
    await get('eve').expect(429);
    await both.close();
    await get('eve').expect(503);
  });

  test('a failed request is refunded in all limits', async () => {
    const client = await start({
      limits: [
        {
          name: 'login',
          limits: { a: { policy: hourly(1) }, b: { policy: hourly(1), key: '#{method}' } },
          skipFailedRequests: true,
        },
      ],
      handler: (_decision, { status }) => {
        status(400);
        return {};
      },
    });
    for (let i = 0; i < 3; i += 1) {
      await eventually(async () => (await client.get('/')).status === 400);
    }
    const [a, b] = [limiter('login.a', hourly(1)), limiter('login.b', hourly(1))];
    await eventually(async () => (await a.peek('127.0.0.1')).remaining === 1);
    await eventually(async () => (await b.peek('GET')).remaining === 1);
  });
});
