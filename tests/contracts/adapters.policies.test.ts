import { parseList } from 'structured-headers';
import { fixedWindow, redisStore, slidingLog } from '../../packages/core/src/index.js';
import { redisUrl, uniqueName } from '../support/redis-url.js';
import { inTenSeconds, onEachAdapter } from './adapters.suite.js';

onEachAdapter(({ start, memory, advance }) => {
  describe('several policies', () => {
    const policies = {
      burst: slidingLog({ limit: 1, window: '1s' }),
      perMinute: fixedWindow({ limit: 2, window: '1m' }),
    };

    test('each is an item of its own, and a problem names those that denied', async () => {
      const client = await start({ limits: [{ name: 'api', policies, store: memory() }] });
      const first = await client.get('/').expect(200);
      expect(parseList(first.headers['ratelimit-policy']!)).toEqual([
        [
          'api.burst',
          new Map([
            ['q', 1],
            ['w', 1],
          ]),
        ],
        [
          'api.perMinute',
          new Map([
            ['q', 2],
            ['w', 60],
          ]),
        ],
      ]);
      expect(parseList(first.headers.ratelimit!)).toEqual([
        [
          'api.burst',
          new Map([
            ['r', 0],
            ['t', 1],
          ]),
        ],
        [
          'api.perMinute',
          new Map([
            ['r', 1],
            ['t', 60],
          ]),
        ],
      ]);
      const violated = async (after: string) => {
        const denied = await client.get('/').expect(429).expect('Retry-After', after);
        return JSON.parse(denied.text ?? String(denied.body))['violated-policies'];
      };
      expect(await violated('1')).toEqual(['api.burst']);
      await advance('1s');
      await client.get('/').expect(200); // what burst denied took nothing of the minute
      expect(await violated('59')).toEqual(['api.burst', 'api.perMinute']);
      await advance('1s');
      expect(await violated('58')).toEqual(['api.perMinute']);
    });

    test('a cost by policy', async () => {
      const client = await start({
        limits: [{ policies, store: memory(), name: 'api', cost: () => ({ burst: 0, perMinute: 2 }) }],
      });
      await client.get('/').expect(200).expect('RateLimit', '"api.burst";r=1;t=0, "api.perMinute";r=0;t=60');
    });
  });

  describe('a policy for each request', () => {
    const plans = { free: inTenSeconds(2), premium: inTenSeconds(4) };
    const planOf = ({ headers }: { headers: Record<string, unknown> }) =>
      plans[headers['x-plan'] as keyof typeof plans];

    test('judges by its numbers what counts in one place: an upgrade keeps what was used', async () => {
      const client = await start({
        limits: [{ name: 'api', policy: planOf, limitType: 'USER', store: memory() }],
      });
      const get = (user: string, plan: string) => client.get('/').set({ 'x-user': user, 'x-plan': plan });
      await get('ann', 'free')
        .expect(200)
        .expect('RateLimit-Policy', '"api";q=2;w=10')
        .expect('RateLimit', '"api";r=1;t=10');
      await get('ann', 'free').expect(200);
      await get('ann', 'free').expect(429).expect('Retry-After', '10');
      await get('ann', 'premium')
        .expect(200)
        .expect('RateLimit-Policy', '"api";q=4;w=10')
        .expect('RateLimit', '"api";r=1;t=10');
      await get('ann', 'premium').expect(200);
      await get('ann', 'premium').expect(429);
      await get('ann', 'free').expect(429);
      await get('bob', 'free').expect(200);
      await advance('10s');
      await get('ann', 'free').expect(200).expect('RateLimit', '"api";r=1;t=10');
    });

    test('may come later, and needs no store of ours', async () => {
      const policy = async (request: { headers: Record<string, unknown> }) => planOf(request);
      const client = await start({ limits: [{ policy }] });
      for (const plan of ['free', 'premium', 'premium', 'premium']) {
        await client.get('/').set('x-plan', plan).expect(200);
      }
      await client.get('/').set('x-plan', 'premium').expect(429);
      await client.get('/').set('x-plan', 'gold').expect(500);
    });

    test('several of them', async () => {
      const policies = (request: { headers: Record<string, unknown> }) => ({
        plan: planOf(request),
        day: fixedWindow({ limit: 100, window: '1d' }),
      });
      const client = await start({ limits: [{ name: 'api', policies, store: memory() }] });
      const get = (plan: string) => client.get('/').set('x-plan', plan);
      await get('free').expect(200);
      await get('free').expect(200).expect('RateLimit', '"api.plan";r=0;t=10, "api.day";r=98;t=86400');
      await get('free').expect(429);
      await get('premium').expect(200).expect('RateLimit', '"api.plan";r=1;t=10, "api.day";r=97;t=86400');
    });

    test('on Redis', async () => {
      const store = redisStore(redisUrl());
      const policy = ({ headers }: { headers: Record<string, unknown> }) =>
        fixedWindow({ limit: Number(headers['x-limit']), window: '1h' });
      try {
        const client = await start({
          limits: [{ name: uniqueName('plan'), policy, store, deadline: '10s' }],
        });
        await client.get('/').set('x-limit', '1').expect(200);
        await client.get('/').set('x-limit', '1').expect(429);
        await client.get('/').set('x-limit', '2').expect(200);
        await client.get('/').set('x-limit', 'many').expect(500);
      } finally {
        await store.close();
      }
    });
  });
});
