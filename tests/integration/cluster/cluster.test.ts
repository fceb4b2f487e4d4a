import {
  concurrency,
  fixedWindow,
  gcra,
  isRateLimitExceededError,
  type RateLimiter,
  SharedLimiter,
  slidingLog,
  slidingWindow,
  tokenBucket,
} from '../../../packages/core/src/index.js';
import { uniqueName } from '../../support/redis-url.js';
import { KINDS, OwnCluster, rejection } from './own-cluster.js';

const own = new OwnCluster();
const users = Array.from({ length: 60 }, (_, i) => `user-${i}`);
/** Runs the calls concurrently, as a service does. */
const each = <T>(work: (user: string) => Promise<T>): Promise<T[]> => Promise.all(users.map(work));

describe.each(KINDS)('$name', (kind) => {
  test('the store knows that it is a cluster', () => {
    expect(own.store(kind).slotted).toBe(true);
  });

  test('keys are on all nodes, and each has its own limit', async () => {
    const limiter = own.limiter({ policy: fixedWindow({ limit: 3, window: '1h' }), store: own.store(kind) });
    for (const remaining of [2, 1, 0]) {
      expect(await each((user) => limiter.consume(user))).toEqual(
        users.map(() => expect.objectContaining({ allowed: true, remaining, source: 'redis' })),
      );
    }
    expect((await each((user) => limiter.consume(user))).filter(({ allowed }) => allowed)).toEqual([]);

    const keys = await own.keys(limiter.name);
    for (const ofNode of keys) expect(ofNode.length).toBeGreaterThan(0);
    expect(keys.flat()).toHaveLength(users.length);
  });

  test('another process continues the same count', async () => {
    const policy = gcra({ limit: 2, period: '1h' });
    const limiter = own.limiter({ policy, store: own.store(kind) });
    const other = own.limiter({ policy, name: limiter.name, store: own.store(kind) });
    await each((user) => limiter.consume(user));
    expect((await each((user) => other.consume(user))).filter(({ allowed }) => allowed)).toHaveLength(
      users.length,
    );
    expect((await each((user) => limiter.consume(user))).filter(({ allowed }) => allowed)).toEqual([]);
  });

  test('peek, refund, reserve and settle, block, override and reset find the same key', async () => {
    const limiter = own.limiter({ policy: fixedWindow({ limit: 10, window: '1h' }), store: own.store(kind) });
    const left = async () =>
      new Set((await each((user) => limiter.peek(user))).map(({ remaining }) => remaining));
    const taken = await each((user) => limiter.consume(user, { cost: 4 }));
    expect(await left()).toEqual(new Set([6]));
    await Promise.all(taken.map((decision) => limiter.refund(decision)));
    expect(await left()).toEqual(new Set([10]));
    const reserved = await each((user) => limiter.reserve(user, 5));
    await Promise.all(reserved.map((reservation) => reservation.settle(2)));
    expect(await left()).toEqual(new Set([8]));
    await each((user) =>
      limiter.override(user, fixedWindow({ limit: 100, window: '1h' }), { expiresIn: '1h' }),
    );
    expect(await left()).toEqual(new Set([98]));
    await each((user) => limiter.block(user, '1h'));
    expect((await each((user) => limiter.consume(user))).filter(({ allowed }) => allowed)).toEqual([]);
    await each((user) => limiter.reset(user));
    expect(await left()).toEqual(new Set([100]));
  });

  test('acquire waits for the moment in its answer', async () => {
    const policy = tokenBucket({ capacity: 1, refill: 1, every: '200ms' });
    const limiter = own.limiter({ policy, store: own.store(kind) });
    await each((user) => limiter.acquire(user));
    const decisions = await each((user) => limiter.acquire(user, { timeout: '20s' }));
    expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(users.length);
    const late = own.limiter({ policy: slidingLog({ limit: 1, window: '1h' }), store: own.store(kind) });
    await late.acquire('k');
    expect(isRateLimitExceededError(await rejection(late.acquire('k', { timeout: '1s' })))).toBe(true);
  });

  test('one call decides several policies of a limiter, whose keys share a slot', async () => {
    const policies = {
      perSecond: slidingWindow({ limit: 5, window: '1h', slots: 4 }),
      perHour: tokenBucket({ capacity: 3, refill: 3, every: '1h' }),
      atOnce: concurrency({ limit: 4, lease: '10m' }),
    };
    const limiter = own.limiter({ policies, store: own.store(kind) });
    await each((user) => limiter.consume(user, { cost: 2 }));
    const denied = await each((user) => limiter.consume(user, { cost: 2 }));
    expect(new Set(denied.map(({ allowed, policy }) => `${allowed} ${policy}`))).toEqual(
      new Set(['false perHour']),
    );
    const left = async (user: string) => {
      const { policies: limits } = await limiter.peek(user);
      return limits.map(({ remaining }) => remaining);
    };
    for (const remaining of await each(left)) expect(remaining).toEqual([3, 1, 2]); // a denial took nothing

    const keys = await own.keys(limiter.name);
    for (const ofNode of keys) expect(ofNode.length % 3).toBe(0);
    expect(keys.flat()).toHaveLength(3 * users.length);
  });

  test('a shared limit is in the slot of its rate', async () => {
    const name = uniqueName('cluster');
    const sharedLimiter = (): SharedLimiter =>
      own.open(new SharedLimiter({ name, store: own.store(kind), deadline: '10s' }));
    const [one, other] = [sharedLimiter(), sharedLimiter()];
    expect(await one.trySetRate({ rate: 5, interval: '1h' })).toBe(true);
    expect(await other.trySetRate({ rate: 9, interval: '1h' })).toBe(false);
    const taken = await Promise.all(users.map((_, i) => [one, other][i % 2]!.tryAcquire()));
    expect(taken.filter(Boolean)).toHaveLength(5);
    expect(await other.updateRate({ rate: 7, interval: '1h', mode: 'OVERALL' })).toBe(true);
    expect(await one.availablePermits()).toBe(2);
    await one.setRate({ rate: 2, interval: '1h', mode: 'PER_CLIENT' });
    for (const limiter of [one, other]) {
      await limiter.acquire(2);
      expect(await limiter.tryAcquire()).toBe(false);
    }
    const keys = await own.keys(name);
    expect(keys.filter((ofNode) => ofNode.length > 0)).toHaveLength(1);
    expect(await one.delete()).toBe(true);
  });
});

test.each([
  ['a hash tag puts all keys on one node', { hashTag: 'orders' }, 1],
  ['without a hash tag keys are on all nodes', {}, 3],
])('%s', async (_, options, nodes) => {
  const policies = { few: fixedWindow({ limit: 2, window: '1h' }), many: gcra({ limit: 9, period: '1h' }) };
  const limiter: RateLimiter = own.limiter({ policies, ...options });
  await each((user) => limiter.consume(user));
  const keys = await own.keys(limiter.name);
  expect(keys.filter((ofNode) => ofNode.length > 0)).toHaveLength(nodes);
  expect(keys.flat()).toHaveLength(2 * users.length);
});
