import { memoryStore, RateLimiter, redisStore, type Store, tokenBucket } from '@sluice/core';
import { Redis } from 'ioredis';
import { policies } from '../../../../tests/contracts/store/harness.js';
import { startRedis } from '../../../../tests/support/redis/redis-server.js';
import { redisUrl, uniqueName } from '../../../../tests/support/redis-url.js';
import { inspectKey } from '../index.js';

const stores: [string, () => Store][] = [
  ['memory', () => memoryStore()],
  ['redis', () => redisStore(redisUrl())],
];

describe.each(stores)('%s', (_, open) => {
  const store = open();
  const limiters: RateLimiter[] = [];
  afterAll(async () => {
    for (const limiter of limiters) await limiter.close();
    await store.close();
  });

  const limiterOf = (policy: RateLimiter['policies'][string], more = {}) => {
    const limiter = new RateLimiter({
      name: uniqueName('inspect'),
      policy,
      store,
      deadline: '10s',
      denyCache: false,
      ...more,
    });
    limiters.push(limiter);
    return limiter;
  };
  const inspect = (limiter: RateLimiter, key: string, options = {}) =>
    inspectKey(store, RateLimiter.internals(limiter).limits.definition('limiter'), key, options);

  describe.each(Object.entries(policies))('%s', (_name, policyOf) => {
    test('inspectKey shows the same as peek, whatever the key holds', async () => {
      const limiter = limiterOf(policyOf('1h'), { hashTag: 'tag' });
      const isHeld = limiter.policies[limiter.name]!.algorithm === 'concurrency';
      const steps: [string, () => Promise<unknown>][] = [
        ['nothing', async () => {}],
        ['taken', () => limiter.consume('k', { cost: 2 })],
        ['overridden', () => limiter.override('k', policyOf('2h'), { expiresIn: '1h' })],
        ['taken twice', () => limiter.consume('k')],
        ['booked', async () => isHeld || limiter.acquire('k', { cost: 2, timeout: '5h' }).catch(() => {})],
        ['blocked', () => limiter.block('k', '1h')],
      ];
      for (const [step, act] of steps) {
        const waiting = act();
        if (step !== 'booked') await waiting;
        else (waiting as Promise<unknown>).catch(() => {});
        const { debug, allowed, remaining } = await limiter.peek('k', { debug: true });
        const seen = await inspect(limiter, 'k');
        const [policy] = seen.policies;
        const { name, key, numbers, overridden, booked, blockedUntil, after } = debug!.policies[0]!;
        expect({ step, allowed: seen.allowed, ...policy }).toMatchObject({
          ...{ step, allowed, remaining, name, key, numbers, overridden, booked, blockedUntil },
          state: { state: after.state },
          known: step !== 'nothing' || policy!.known,
        });
        expect(policy!.overrideUntil !== undefined).toBe(overridden);
      }
    });
  });

  test('a cost above the limit has no wait', async () => {
    const limiter = limiterOf(tokenBucket({ capacity: 5, refill: 1, every: '1h' }));
    await limiter.consume('k', { cost: 4 });
    expect(await inspect(limiter, 'k', { cost: 6 })).toMatchObject({ allowed: false, wait: undefined });
    expect(await inspect(limiter, 'k', { cost: 1 })).toMatchObject({ allowed: true, wait: 0, known: true });
    expect(await inspect(limiter, 'k', { cost: 2 })).toMatchObject({ allowed: false, cost: 2 });
    expect(await inspect(limiter, 'nobody')).toMatchObject({
      known: false,
      allowed: true,
      policies: [{ remaining: 5, timeToLive: undefined }],
    });
  });
});

test('inspectKey does not write, and works for a user without write access', async () => {
  const server = await startRedis();
  const admin = new Redis(server.url);
  await admin.call(
    'ACL',
    'SETUSER',
    'reader',
    'on',
    '>pw',
    '~*',
    '+@read',
    '+eval',
    '+evalsha',
    '+time',
    '+info',
  );
  const [writing, reading] = [redisStore(server.url), redisStore(server.url.replace('//', '//reader:pw@'))];
  const policy = tokenBucket({ capacity: 5, refill: 1, every: '1h' });
  const limiter = new RateLimiter({ name: 'login', policy, store: writing, deadline: '10s' });
  try {
    await limiter.consume('k');
    const definition = RateLimiter.internals(limiter).limits.definition('limiter');
    expect(await inspectKey(reading, definition, 'k')).toMatchObject({ known: true, allowed: true });
    await admin.set('sluice:v2:tb:login:{k}', 'of another program');
    await expect(inspectKey(reading, definition, 'k')).rejects.toThrow(/foreign value/);
    const v3 = { ...definition, prefixes: { login: 'sluice:v3:tb:login:{' } };
    await expect(inspectKey(reading, v3, 'k')).rejects.toThrow(/another layout/);
  } finally {
    await Promise.all([limiter.close(), writing.close(), reading.close()]);
    admin.disconnect();
    await server.stop();
  }
});
