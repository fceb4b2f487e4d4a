import { parseList } from 'structured-headers';
import { fixedWindow, slidingLog } from '../../../packages/core/src/index.js';
import { hourly, onEachAdapter } from './on-each-framework.js';

onEachAdapter(({ start, advance, headerOf }) => {
  describe('several policies', () => {
    const policies = {
      burst: slidingLog({ limit: 1, window: '1h' }),
      perDay: fixedWindow({ limit: 2, window: '1d' }),
    };

    test('each policy has its item in the headers, and a problem names the policies that denied', async () => {
      const client = await start({ limits: [{ name: 'api', policies }] });
      const first = await client.get('/').expect(200);
      expect(parseList(first.headers['ratelimit-policy']!)).toEqual([
        [
          'api.burst',
          new Map([
            ['q', 1],
            ['w', 3600],
          ]),
        ],
        [
          'api.perDay',
          new Map([
            ['q', 2],
            ['w', 86_400],
          ]),
        ],
      ]);
      expect(parseList(first.headers.ratelimit!)).toEqual([
        [
          'api.burst',
          new Map([
            ['r', 0],
            ['t', 3600],
          ]),
        ],
        [
          'api.perDay',
          new Map([
            ['r', 1],
            ['t', 86_400],
          ]),
        ],
      ]);
      const violated = async (after: string) => {
        const denied = await client.get('/').expect(429).expect('Retry-After', after);
        return JSON.parse(denied.text ?? String(denied.body))['violated-policies'];
      };
      expect(await violated('3600')).toEqual(['api.burst']);
      await advance('1h');
      await client.get('/').expect(200); // what burst denied took nothing of the day
      expect(await violated('82800')).toEqual(['api.burst', 'api.perDay']);
      await advance('1h');
      expect(await violated('79200')).toEqual(['api.perDay']);
    });

    test('a cost function returns a cost for each policy', async () => {
      const client = await start({
        limits: [{ policies, name: 'api', cost: () => ({ burst: 0, perDay: 2 }) }],
      });
      await client.get('/').expect(200).expect('RateLimit', '"api.burst";r=1;t=0, "api.perDay";r=0;t=86400');
    });
  });

  describe('a policy for each request', () => {
    const plans = { free: hourly(2), premium: hourly(4) };
    const planOf = (request: unknown) => plans[headerOf(request, 'x-plan') as keyof typeof plans];

    test('applies to the same count: an upgrade keeps used permits', async () => {
      const client = await start({
        limits: [{ name: 'api', policy: planOf, limitType: 'USER' }],
      });
      const get = (user: string, plan: string) => client.get('/').set({ 'x-user': user, 'x-plan': plan });
      await get('ann', 'free')
        .expect(200)
        .expect('RateLimit-Policy', '"api";q=2;w=3600')
        .expect('RateLimit', '"api";r=1;t=3600');
      await get('ann', 'free').expect(200);
      await get('ann', 'free').expect(429).expect('Retry-After', '3600');
      await get('ann', 'premium')
        .expect(200)
        .expect('RateLimit-Policy', '"api";q=4;w=3600')
        .expect('RateLimit', '"api";r=1;t=3600');
      await get('ann', 'premium').expect(200);
      await get('ann', 'premium').expect(429);
      await get('ann', 'free').expect(429);
      await get('bob', 'free').expect(200);
      await advance('1h');
      await get('ann', 'free').expect(200).expect('RateLimit', '"api";r=1;t=3600');
    });

    test('receives the key as its last argument', async () => {
      const policy = (...args: readonly unknown[]) => hourly(args.at(-1) === 'ann' ? 2 : 1);
      const client = await start({ limits: [{ policy, limitType: 'USER' }] });
      const get = (user: string) => client.get('/').set('x-user', user);
      for (const user of ['ann', 'ann', 'bob']) await get(user).expect(200);
      for (const user of ['ann', 'bob']) await get(user).expect(429);
    });

    test('may be asynchronous', async () => {
      const policy = async (request: unknown) => planOf(request);
      const client = await start({ limits: [{ policy }] });
      for (const plan of ['free', 'premium', 'premium', 'premium']) {
        await client.get('/').set('x-plan', plan).expect(200);
      }
      await client.get('/').set('x-plan', 'premium').expect(429);
      await client.get('/').set('x-plan', 'gold').expect(500);
    });

    test('may be several policies', async () => {
      const policies = (request: unknown) => ({
        plan: planOf(request),
        day: fixedWindow({ limit: 100, window: '1d' }),
      });
      const client = await start({ limits: [{ name: 'api', policies }] });
      const get = (plan: string) => client.get('/').set('x-plan', plan);
      await get('free').expect(200);
      await get('free').expect(200).expect('RateLimit', '"api.plan";r=0;t=3600, "api.day";r=98;t=86400');
      await get('free').expect(429);
      await get('premium').expect(200).expect('RateLimit', '"api.plan";r=1;t=3600, "api.day";r=97;t=86400');
    });
  });
});
