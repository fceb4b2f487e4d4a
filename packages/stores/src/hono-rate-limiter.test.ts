import { ManualClock, memoryStore, redisStore } from '@sluice/core';
import { Hono } from 'hono';
import { rateLimiter, type Store } from 'hono-rate-limiter';
import { failingStore } from '../../../tests/support/failing-store.js';
import { redisUrl, uniqueName } from '../../../tests/support/redis-url.js';
import { honoRateLimiterStore } from './index.js';

/** On a busy machine Redis may take longer than usual, and this process must not count by itself. */
const deadline = '10s';

/** An app behind the real host; `/fails` answers 500. */
function served(store: Store | undefined, options: object = {}) {
  const app = new Hono();
  app.use(
    rateLimiter({ windowMs: 60_000, limit: 2, keyGenerator: () => 'k', ...(store && { store }), ...options }),
  );
  app.get('/', (context) => context.text('ok'));
  app.get('/fails', (context) => context.text('no', 500));
  return async (path = '/') => app.request(path);
}

test('hono-rate-limiter counts in memory, from the first hit to the end of its window', async () => {
  const clock = new ManualClock();
  const get = served(honoRateLimiterStore({ name: 'api', store: memoryStore({ clock }) }));
  expect((await get()).headers.get('RateLimit-Remaining')).toBe('1');
  await clock.advance('30s');
  expect((await get()).headers.get('RateLimit-Remaining')).toBe('0');
  const denied = await get();
  expect([denied.status, denied.headers.get('Retry-After')]).toEqual([429, '30']);
  await clock.advance('30s');
  expect((await get()).status).toBe(200);
});

test('hono-rate-limiter in two processes shares its counts in Redis', async () => {
  const name = uniqueName('hrl');
  const stores = [redisStore(redisUrl()), redisStore(redisUrl())];
  const [one, other] = stores.map((store) => served(honoRateLimiterStore({ name, store, deadline })));
  expect((await one!()).status).toBe(200);
  expect((await other!()).status).toBe(200);
  expect((await one!()).status).toBe(429);
  await Promise.all(stores.map((store) => store.close()));
});

test.each([{ skipFailedRequests: true }, { skipSuccessfulRequests: true }, {}])(
  'with %j, an app answers as it does with the memory store of hono-rate-limiter',
  async (options) => {
    const answersOf = async (store?: Store) => {
      const get = served(store, options);
      const all = [];
      for (const path of ['/fails', '/fails', '/fails', '/', '/', '/', '/fails', '/', '/']) {
        const { status, headers } = await get(path);
        all.push([path, status, headers.get('RateLimit-Remaining')]);
      }
      return all;
    };
    expect(await answersOf(honoRateLimiterStore())).toEqual(await answersOf());
  },
);

test('a store that fails before a hit is taken back does not fail the request', async () => {
  const far = failingStore();
  const get = served(honoRateLimiterStore({ name: 'api', store: far.store }), { skipFailedRequests: true });
  far.refuse('refund');
  expect((await get('/fails')).status).toBe(500);
  expect(far.operations).toContain('refund');
});

test('a store that is shut down before a hit is taken back does not fail the request', async () => {
  const store = honoRateLimiterStore();
  const app = new Hono();
  const options = { windowMs: 60_000, limit: 2, keyGenerator: () => 'k', skipSuccessfulRequests: true };
  app.use(rateLimiter({ ...options, store }));
  app.get('/', async (context) => {
    await store.shutdown();
    return context.text('ok');
  });
  expect((await app.request('/')).status).toBe(200);
});

test('a limit that cannot be counted throws where the limiter is created', () => {
  expect(() => served(honoRateLimiterStore(), { limit: Number.NaN })).toThrow(RangeError);
});
