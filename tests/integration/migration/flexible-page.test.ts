import type { Redis } from 'ioredis';
import { RateLimiterMemory, type RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import {
  fixedWindow,
  RateLimiter as Ours,
  type RateLimiter,
  type RedisStore,
} from '../../../packages/core/src/index.js';
import { uniqueName } from '../../support/redis-url.js';
import { evaluate, SIDES } from './page.js';

const PAGE = 'rate-limiter-flexible';

test.each(SIDES)('%s: a caller gets the results of the page', async (side) => {
  const { login } = await evaluate<{ login(email: string): Promise<string> }>(PAGE, side, require, ['login']);
  const seen = [];
  for (const email of ['ann', 'ann', 'ann', 'ann', 'bob', 'ann']) seen.push(await login(email));
  const denied = 'try again in 1 min';
  expect(seen).toEqual(['2 left', '1 left', '0 left', denied, '2 left', denied]);
});

describe('in Redis', () => {
  const replace = { "'login'": `'${uniqueName('login')}'` };

  test('both sides decide alike, and give the same share of the limit while Redis is out', async () => {
    type Before = { limiter: RateLimiterRedis; client: Redis };
    const before = await evaluate<Before>(
      PAGE,
      'Before',
      require,
      ['limiter', 'client'],
      'in Redis',
      replace,
    );
    const theirs = async (key: string) =>
      before.limiter.consume(key).then(
        () => true,
        (reason) => reason instanceof RateLimiterRes && false,
      );
    type After = { limiter: RateLimiter; store: RedisStore };
    const after = await evaluate<After>(
      PAGE,
      'With Sluice',
      require,
      ['limiter', 'store'],
      'in Redis',
      replace,
    );
    const ours = async (key: string) => (await after.limiter.consume(key)).allowed;

    const decisions = async (consume: (key: string) => Promise<boolean>, key: string) => {
      const all = [];
      for (let at = 0; at < 4; at += 1) all.push(await consume(key));
      return all;
    };
    expect(await decisions(theirs, 'ann')).toEqual([true, true, true, false]);
    expect(await decisions(ours, 'ann')).toEqual([true, true, true, false]);
    before.client.disconnect();
    expect(await decisions(theirs, 'bob')).toEqual([true, false, false, false]);
    await after.limiter.close();
    await after.store.close();

    const away = { ...replace, 'redis://127.0.0.1:6379': 'redis://127.0.0.1:1' };
    const out = await evaluate<After>(PAGE, 'With Sluice', require, ['limiter', 'store'], 'in Redis', away);
    out.store.on('degraded', () => {}); // otherwise there is a warning
    const local = async (key: string) => (await out.limiter.consume(key)).allowed;
    expect(await decisions(local, 'bob')).toEqual([true, false, false, false]);
    await out.limiter.close();
    await out.store.close();
  });
});

describe('with a simulated clock', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  /** Calls in a row: was each allowed? */
  async function calls(count: number, consume: () => Promise<unknown>): Promise<boolean[]> {
    const all: boolean[] = [];
    for (let at = 0; at < count; at += 1) {
      const result = await consume().catch(() => ({ allowed: false }));
      all.push((result as { allowed?: boolean }).allowed ?? true);
    }
    return all;
  }

  test.each(SIDES)('%s: gifts exceed the limit, add up, and end with the window', async (side) => {
    type Values = { gift(key: string, n: number): Promise<unknown>; limiter: Pick<Ours, 'consume'> };
    const { gift, limiter } = await evaluate<Values>(PAGE, side, require, ['gift', 'limiter'], 'a gift');
    const allowed = (key: string, count: number) => calls(count, () => limiter.consume(key));
    expect(await allowed('ann', 1)).toEqual([true]);
    await gift('ann', 2);
    await jest.advanceTimersByTimeAsync(20_000);
    await gift('ann', 1);
    expect(await allowed('ann', 6)).toEqual([true, true, true, true, true, false]);
    await gift('ann', 1);
    await gift('new', 2);
    expect(await allowed('new', 6)).toEqual([true, true, true, true, true, false]);
    await jest.advanceTimersByTimeAsync(41_000);
    expect(await allowed('ann', 4)).toEqual([true, true, true, false]);
    await jest.advanceTimersByTimeAsync(61_000);
    expect(await allowed('ann', 4)).toEqual([true, true, true, false]);
    expect(await allowed('new', 4)).toEqual([true, true, true, false]);
  });

  test('a longer window counts alike; after a shorter one our policy has its count again', async () => {
    const theirs = new RateLimiterMemory({ points: 2, duration: 60 });
    const ours = new Ours({ policy: fixedWindow({ limit: 2, window: '60s' }) });
    const inWindow = async (key: string, seconds: number) => {
      await ours.override(key, fixedWindow({ limit: 2, window: seconds * 1000 }), {
        expiresIn: seconds * 1000,
      });
      return [
        await calls(3, () => theirs.consume(key, 1, { customDuration: seconds })),
        await calls(3, () => ours.consume(key)),
      ];
    };
    const denied = async (key: string) => [
      await calls(1, () => theirs.consume(key)),
      await calls(1, () => ours.consume(key)),
    ];
    const used = [true, true, false];
    expect(await inWindow('long', 90)).toEqual([used, used]);
    expect(await inWindow('short', 30)).toEqual([used, used]);
    await jest.advanceTimersByTimeAsync(31_000);
    expect(await denied('short')).toEqual([[true], [false]]); // the page says so
    await jest.advanceTimersByTimeAsync(50_000);
    expect(await denied('long')).toEqual([[false], [false]]);
    await jest.advanceTimersByTimeAsync(10_000);
    expect(await denied('long')).toEqual([[true], [true]]);
  });
});

describe('differences that the page names', () => {
  test('a denied call takes nothing', async () => {
    const theirs = new RateLimiterMemory({ points: 1, duration: 60 });
    const consumed = () =>
      theirs.consume('k').then(
        (res) => res.consumedPoints,
        (res) => res.consumedPoints,
      );
    expect([await consumed(), await consumed(), await consumed()]).toEqual([1, 2, 3]);

    const ours = new Ours({ policy: fixedWindow({ limit: 1, window: '1m' }) });
    for (let at = 0; at < 3; at += 1) await ours.consume('k');
    const { limit, remaining } = await ours.peek('k');
    expect(limit - remaining).toBe(1);
  });

  test('reset ends a block, too, and a cost above the limit never passes', async () => {
    const limiter = new Ours({ policy: fixedWindow({ limit: 5, window: '1m' }) });
    await limiter.block('k', '1h');
    await limiter.reset('k');
    expect(await limiter.consume('k')).toMatchObject({ allowed: true });
    expect(await limiter.consume('k', { cost: 6 })).toMatchObject({ allowed: false, retryAfter: Infinity });
  });
});
