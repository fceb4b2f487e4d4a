import {
  isRateLimitExceededError,
  isRateNotSetError,
  memoryStore,
  redisStore,
  SharedLimiter,
} from '../../../packages/core/src/index.js';
import { redisUrl, uniqueName } from '../../support/redis-url.js';
import { evaluate } from './page.js';

const PAGE = 'envoy-and-java';

/** The code of the page, with a store of ours. */
const replaced = (store: string) => ({
  'import { memoryStore': 'import { redisStore, memoryStore',
  'const store = memoryStore()': `const store = ${store}`,
  "'exports'": `'${uniqueName('exports')}'`,
});

test.each([
  ['memory', () => 'memoryStore()'],
  ['Redis', () => `redisStore('${redisUrl()}')`],
])('the program of the page runs in %s', async (_, store) => {
  type Page = Record<'taken' | 'later', boolean> & { left: number; store: { close(): Promise<void> } };
  const names = ['taken', 'later', 'left', 'store'] as const;
  const page = await evaluate<Page>(PAGE, 'With Sluice', require, names, 'Redisson', replaced(store()));
  expect(page).toMatchObject({ taken: true, later: false, left: 2 });
  await page.store.close();
});

describe('differences that the page names', () => {
  const hourly = { rate: 2, interval: '1h' } as const;

  test('setRate clears every client', async () => {
    const store = redisStore(redisUrl());
    const name = uniqueName('redisson');
    const [one, two] = ['1', '2'].map(
      (clientId) => new SharedLimiter({ name, store, clientId, deadline: '10s' }),
    );
    await one!.trySetRate({ ...hourly, mode: 'PER_CLIENT' });
    await one!.tryAcquire(2);
    await two!.tryAcquire(2);
    await one!.setRate({ ...hourly, mode: 'PER_CLIENT' });
    expect(await two!.availablePermits()).toBe(2);
    await one!.delete();
    await store.close();
  });

  test('a too long wait returns false, and more permits than the rate or no rate reject', async () => {
    const limiter = new SharedLimiter({ name: 'l', store: memoryStore() });
    expect(isRateNotSetError(await limiter.tryAcquire().catch((error) => error))).toBe(true);
    await limiter.trySetRate(hourly);
    await limiter.tryAcquire(2);
    expect(await limiter.tryAcquire(1, '59m')).toBe(false);
    const error = await limiter.tryAcquire(3).catch((reason) => reason);
    expect(isRateLimitExceededError(error) && error.decision.retryAfter).toBe(Infinity);
  });
});
