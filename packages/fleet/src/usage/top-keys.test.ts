import {
  CombinedLimiter,
  concurrency,
  fixedWindow,
  hashKey,
  memoryStore,
  RateLimiter,
  SharedLimiter,
  tokenBucket,
} from '@sluice/core';
import { rejection } from '../../../../tests/support/rejection.js';
import { readUsage } from '../index.js';

const plain = () => memoryStore({ usage: { keys: 'plain' } });
const policy = fixedWindow({ limit: 2, window: '1h' });
const limiterOf = (options: object = {}) =>
  new RateLimiter({ name: 'api', policy, store: plain(), ...options });

const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);
const sums = (counts: object) =>
  Object.fromEntries(Object.entries(counts).map(([result, list]) => [result, sum(list)]));

async function decisionsOf(store: Parameters<typeof readUsage>[0]) {
  const { limiters } = await readUsage(store);
  return Object.fromEntries(
    limiters.map(({ limiter, decisions, shadowDecisions }) => [
      limiter,
      { enforce: sums(decisions), shadow: sums(shadowDecisions) },
    ]),
  );
}

test('topKeys lists the most denied keys, and the keys that took the most permits', async () => {
  const api = limiterOf();
  for (let i = 0; i < 5; i += 1) await api.consume('ann');
  for (let i = 0; i < 3; i += 1) await api.consume('bob');
  await api.consume('eve', { cost: 2 });
  await api.consume('zoe', { cost: 0 });
  await api.peek('ann');
  expect(api.topKeys()).toEqual({
    denied: [
      { key: 'ann', count: 3, error: 0 },
      { key: 'bob', count: 1, error: 0 },
    ],
    shadowDenied: [],
    costly: [
      { key: 'ann', count: 2, error: 0 },
      { key: 'bob', count: 2, error: 0 },
      { key: 'eve', count: 2, error: 0 },
    ],
    unlisted: { denied: 0, shadowDenied: 0, costly: 0 },
    span: expect.any(Number),
  });
});

test('calls in shadow mode are listed separately', async () => {
  const store = plain();
  const api = limiterOf({ store });
  for (let i = 0; i < 5; i += 1) await api.consume('ann', { shadow: true });
  const { denied, shadowDenied, costly } = api.topKeys();
  expect([denied, shadowDenied, costly]).toEqual([
    [],
    [{ key: 'ann', count: 3, error: 0 }],
    [{ key: 'ann', count: 2, error: 0 }],
  ]);
  expect(await decisionsOf(store)).toEqual({
    api: {
      enforce: { allowed: 0, denied: 0, canceled: 0, error: 0, degraded: 0 },
      shadow: { allowed: 2, denied: 3, canceled: 0, error: 0, degraded: 0 },
    },
  });
});

test('keys are hashed by default, and hashKey returns the hash of a key', async () => {
  const api = limiterOf({ store: memoryStore({ usage: true }) });
  await api.consume('+49 170 1234567');
  await api.consume(7);
  const keys = api.topKeys().costly.map(({ key }) => key);
  expect(keys.sort()).toEqual([hashKey('+49 170 1234567'), hashKey(7)].sort());
  expect(keys).toEqual([expect.stringMatching(/^#[\w-]{16}$/), expect.stringMatching(/^#[\w-]{16}$/)]);
  expect(() => hashKey('')).toThrow('hashKey: the key is an empty string');
});

test.each([
  ['line\nbreak\r\n', 'line%0Abreak%0D%0A'],
  ['\u001b[31mred\u009b', '%1B%5B31mred%C2%9B'],
  ['a key {with} braces', 'a%20key%20%7Bwith%7D%20braces'],
  ['x'.repeat(1_000_000), expect.stringMatching(/^%sha256-[\w-]{43}$/)],
])('a hostile key is listed in its stored form', async (key, listed) => {
  const api = limiterOf();
  await api.consume(key);
  expect(api.topKeys().costly).toEqual([{ key: listed, count: 1, error: 0 }]);
});

test('a call with several policies counts once for its key, with the largest cost', async () => {
  const policies = {
    requests: fixedWindow({ limit: 9, window: '1h' }),
    tokens: tokenBucket({ capacity: 100, refill: 1, every: '1h' }),
  };
  const api = new RateLimiter({ name: 'api', policies, store: plain() });
  await api.consume('ann', { cost: { requests: 1, tokens: 60 } });
  await api.consume('ann', { cost: { requests: 1, tokens: 60 } });
  const { denied, costly } = api.topKeys();
  expect([denied, costly]).toEqual([
    [{ key: 'ann', policy: 'tokens', count: 1, error: 0 }],
    [{ key: 'ann', count: 60, error: 0 }],
  ]);
});

test('a denied key has the policy that denied it last, also as the member of a combination', async () => {
  const store = plain();
  const policies = {
    perMinute: fixedWindow({ limit: 2, window: '1m' }),
    tokens: fixedWindow({ limit: 100, window: '1h' }),
  };
  const api = limiterOf({ store, policy: undefined, policies });
  const cost = { perMinute: 1, tokens: 60 };
  for (let i = 0; i < 2; i += 1) await api.consume('ann', { cost });
  expect(api.topKeys().denied).toMatchObject([{ key: 'ann', policy: 'tokens', count: 1 }]);
  for (let i = 0; i < 2; i += 1) await api.consume('ann');
  expect(api.topKeys().denied).toMatchObject([{ key: 'ann', policy: 'perMinute', count: 2 }]);
  const both = new CombinedLimiter({ api, everybody: limiterOf({ store, name: 'all' }) }, { name: 'both' });
  await both.consume({ api: 'ann', everybody: 'all' });
  expect(both.topKeys().denied).toEqual([
    { scope: 'api', key: 'ann', policy: 'perMinute', count: 1, error: 0 },
  ]);
});

test('a combination counts the key of each member, and the member that denied', async () => {
  const store = plain();
  const everybody = new RateLimiter({ name: 'all', policy: fixedWindow({ limit: 9, window: '1h' }), store });
  const both = new CombinedLimiter({ perUser: limiterOf({ store }), everybody });
  for (let i = 0; i < 3; i += 1) both.consumeSync({ perUser: 'ann', everybody: 'all' });
  const { denied, costly } = both.topKeys();
  expect(denied).toEqual([{ scope: 'perUser', key: 'ann', count: 1, error: 0 }]);
  expect(costly).toEqual([
    { scope: 'everybody', key: 'all', count: 2, error: 0 },
    { scope: 'perUser', key: 'ann', count: 2, error: 0 },
  ]);
  expect(everybody.topKeys().costly).toEqual([]);
});

test('a member of a combination counts what passed and what it denied; members of one name count a call once', async () => {
  const store = plain();
  const everybody = new RateLimiter({ name: 'all', policy: fixedWindow({ limit: 9, window: '1h' }), store });
  const both = new CombinedLimiter(
    { perUser: limiterOf({ store, name: 'user' }), everybody },
    { name: 'both' },
  );
  for (let i = 0; i < 3; i += 1) both.consumeSync({ perUser: 'ann', everybody: 'all' });
  const twice = new CombinedLimiter({
    a: limiterOf({ store, name: 'same' }),
    b: limiterOf({ store, name: 'same' }),
  });
  twice.consumeSync({ a: 'ann', b: 'bob' });
  twice.consumeSync({ a: 'ann', b: 'bob' });
  twice.consumeSync({ a: 'ann', b: 'joe' });
  const counted = Object.entries(await decisionsOf(store)).map(([name, { enforce }]) => [
    name,
    enforce.allowed,
    enforce.denied,
  ]);
  expect(counted).toEqual([
    ['a+b', 2, 1],
    ['all', 2, 0],
    ['both', 2, 1],
    ['same', 2, 1],
    ['user', 2, 1],
  ]);
});

test('each call counts once, by its outcome', async () => {
  const store = plain();
  const api = limiterOf({ store, policy: concurrency({ limit: 1, lease: '1m' }) });
  const held = await api.reserve('ann', 1);
  await rejection(api.acquire('ann', { timeout: 0 }));
  const stop = new AbortController();
  const waiting = rejection(api.acquire('ann', { timeout: '1m', signal: stop.signal }));
  await api.peek('ann');
  stop.abort();
  await waiting;
  await held.cancel();
  const shared = new SharedLimiter({ name: 'mail', store });
  await rejection(shared.acquire());
  await shared.setRate({ rate: 1, interval: '1h' });
  await shared.acquire();
  expect(await shared.tryAcquire()).toBe(false);
  expect(await decisionsOf(store)).toMatchObject({
    api: { enforce: { allowed: 1, denied: 1, canceled: 1, error: 0 } },
    mail: { enforce: { allowed: 1, denied: 1, canceled: 0, error: 1 } },
  });
  await api.close();
});

test('limiters with names from requests share the counts of (other), but list their own keys', async () => {
  const store = plain();
  const limiters = Array.from({ length: 60 }, (_, i) => limiterOf({ store, name: `tenant-${i}` }));
  for (const limiter of limiters)
    for (let i = 0; i < 3; i += 1) await limiter.consume(`user of ${limiter.name}`);
  for (const limiter of limiters) {
    const { denied, costly } = limiter.topKeys();
    const key = `user%20of%20${limiter.name}`;
    expect([denied, costly]).toEqual([[{ key, count: 1, error: 0 }], [{ key, count: 2, error: 0 }]]);
  }
  const { limiters: reports } = await readUsage(store);
  expect(reports).toHaveLength(51);
  const other = reports.find(({ limiter }) => limiter === '(other)')!;
  expect(sums(other.decisions)).toMatchObject({ allowed: 20, denied: 10 });
  expect(other.denied).toContainEqual({
    scope: 'tenant-59',
    key: 'user%20of%20tenant-59',
    count: 1,
    error: 0,
  });
});

test('without usage, topKeys throws and names the option', () => {
  for (const store of [memoryStore(), memoryStore({ usage: false })]) {
    expect(() => limiterOf({ store }).topKeys()).toThrow(
      new TypeError(
        "topKeys: the store of limiter 'api' does not count keys. Create it with usage: redisStore({ url, usage: true }) or memoryStore({ usage: true })",
      ),
    );
  }
});

test.each([
  [
    { usage: 'plain' },
    `memoryStore: usage must be true, false or an object such as { keys: 'plain' }, not "plain"`,
  ],
  [
    { usage: null },
    "memoryStore: usage must be true, false or an object such as { keys: 'plain' }, not null",
  ],
  [{ usage: { key: 'plain' } }, "memoryStore: usage has no option 'key'; did you mean 'keys'?"],
  [{ usage: { keyUse: 1 } }, 'memoryStore: usage.keyUse must be true or false, not 1'],
  [
    { usage: { keys: 'none' } },
    `memoryStore: usage.keys must be 'hash', or 'plain' to show keys as they are stored, not "none"`,
  ],
])('an invalid option is a TypeError: %j', (options, message) => {
  expect(() => memoryStore(options as never)).toThrow(new TypeError(message));
});
