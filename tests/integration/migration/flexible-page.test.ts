import type { Redis } from 'ioredis';
import type { RateLimiterRedis } from 'rate-limiter-flexible';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import {
  fixedWindow,
  RateLimiter as Ours,
  type RateLimiter,
  type RedisStore,
} from '../../../packages/core/src/index.js';
import { uniqueName } from '../../support/redis-url.js';
import { evaluate, SIDES } from './page.js';

const PAGE = 'rate-limiter-flexible';

test.each(SIDES)('%s: what a caller gets', async (side) => {
  const { login } = await evaluate<{ login(email: string): Promise<string> }>(PAGE, side, require, ['login']);
  const told = [];
  for (const email of ['ann', 'ann', 'ann', 'ann', 'bob', 'ann']) told.push(await login(email));
  const denied = 'try again in 1 min';
  expect(told).toEqual(['2 left', '1 left', '0 left', denied, '2 left', denied]);
});

describe('in Redis', () => {
  const replace = { "'login'": `'${uniqueName('login')}'` };

  test('the same decisions; and the same share of the limit while Redis is out', async () => {
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
