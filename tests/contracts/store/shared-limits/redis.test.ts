import { Redis } from 'ioredis';
import {
  isRateNotSetError,
  isStoreConfigurationError,
  RateLimiter,
  redisStore,
  SharedLimiter,
  slidingLog,
} from '../../../../packages/core/src/index.js';
import { eventually } from '../../../support/eventually.js';
import { redisUrl, uniqueName } from '../../../support/redis-url.js';
import { rejection } from '../harness.js';
import { drain } from './setup.js';

/** Tests of Redis alone: its own clock, its keys, and values that are not ours. Two processes, each with its own store. */
const stores = [redisStore(redisUrl()), redisStore(redisUrl())] as const;
const client = new Redis(redisUrl());
const limiters: SharedLimiter[] = [];

function limiter(name = uniqueName('shared'), store = stores[0], clientId?: string): SharedLimiter {
  const made = new SharedLimiter({
    name,
    store,
    deadline: '10s',
    ...(clientId === undefined ? {} : { clientId }),
  });
  limiters.push(made);
  return made;
}
const place = ({ name }: SharedLimiter) => `sluice:v2:shared:{${name}}`;
const keysOf = (limiter: SharedLimiter) => client.keys(`${place(limiter)}:*`);
const HOUR = 3_600_000;

afterAll(async () => {
  for (const made of limiters) {
    await made.close();
    const keys = await keysOf(made);
    if (keys.length > 0) await client.del(keys);
  }
  for (const store of stores) await store.close();
  client.disconnect();
});

test('two processes share a limit by the clock of the server', async () => {
  const one = limiter();
  const other = limiter(one.name, stores[1]);
  const tried = await Promise.all(
    [one, other, one, other].map((limiter) => limiter.trySetRate({ rate: 4, interval: '1h' })),
  );
  expect(tried.filter(Boolean)).toHaveLength(1);
  const taken = await Promise.all(Array.from({ length: 20 }, (_, i) => (i % 2 ? one : other).tryAcquire()));
  expect(taken.filter(Boolean)).toHaveLength(4);
  expect(await other.availablePermits()).toBe(0);
  await one.setRate({ rate: 6, interval: '1h' });
  expect(await drain(other)).toBe(6);
  expect(await one.delete()).toBe(true);
  expect(isRateNotSetError(await rejection(other.tryAcquire()))).toBe(true);
});

test('waiting calls get their permits at their booked moments, and no permit goes to two calls', async () => {
  const one = limiter();
  const other = limiter(one.name, stores[1]);
  await one.setRate({ rate: 2, interval: '100ms' });
  const decisions = await Promise.all(Array.from({ length: 8 }, (_, i) => (i % 2 ? one : other).acquire()));
  const waited = decisions.map((decision) => decision.waited).sort((a, b) => a - b);
  // By the returned times: two at once, then two more in each interval, less the time of the calls themselves.
  expect(waited.slice(0, 2)).toEqual([0, 0]);
  expect(waited.every((ms) => ms <= 300)).toBe(true);
});

test("every key of a limit has a TTL and is in the limit's slot", async () => {
  const a = limiter(undefined, stores[0], 'a');
  const b = limiter(a.name, stores[1], 'b');
  await a.setRate({ rate: 2, interval: '1h' });
  await drain(a);
  const stop = new AbortController();
  const waiting = rejection(a.acquire(1, { signal: stop.signal }));
  await a.updateRate({ rate: 2, interval: '1h', mode: 'PER_CLIENT' });
  await drain(a);
  await drain(b);
  const keys = (await keysOf(a)).sort();
  expect(keys).toEqual([
    `${place(a)}:all`,
    `${place(a)}:client:a`,
    `${place(a)}:client:b`,
    `${place(a)}:rate`,
  ]);
  for (const key of keys) expect(await client.pttl(key)).toBeGreaterThan(0);
  // What braces enclose picks the slot, and names have none of their own.
  expect(keys.map((key) => /\{(.*?)\}/.exec(key)?.[1])).toEqual(keys.map(() => a.name));
  stop.abort();
  await waiting;
});

test('each use renews the TTL of the rate, a read does not, and a lost TTL is set again', async () => {
  const one = limiter();
  const rate = { rate: 2, interval: '1m', keepAliveTime: HOUR } as const;
  const key = `${place(one)}:rate`;
  await one.setRate(rate);
  expect(await client.pttl(key)).toBeGreaterThan(HOUR / 2);
  const uses = [
    () => one.tryAcquire(2),
    () => one.tryAcquire(), // denied
    () => one.trySetRate({ rate: 9, interval: '1m' }),
    () => one.updateRate(rate),
    () => one.setRate(rate),
  ];
  for (const use of uses) {
    await client.pexpire(key, HOUR / 4);
    await one.availablePermits();
    await one.getConfig();
    expect(await client.pttl(key)).toBeLessThanOrEqual(HOUR / 4);
    await use();
    expect(await client.pttl(key)).toBeGreaterThan(HOUR / 2);
    await client.persist(key);
    await use();
    expect(await client.pttl(key)).toBeGreaterThan(HOUR / 2);
  }
});

test('a waiting call keeps the rate alive until it passes, and then for keepAliveTime', async () => {
  const one = limiter();
  const key = `${place(one)}:rate`;
  const rate = { rate: 1, interval: '1h', keepAliveTime: HOUR } as const;
  await one.setRate(rate);
  await one.acquire();
  const stop = new AbortController();
  const waits = Array.from({ length: 3 }, () => rejection(one.acquire(1, { signal: stop.signal })));
  const uses = [() => one.availablePermits(), () => one.tryAcquire(), () => one.trySetRate(rate)];
  for (const use of uses) {
    await use();
    expect(await client.pttl(key)).toBeGreaterThan(3.5 * HOUR);
    expect(await client.pttl(key)).toBeLessThanOrEqual(4 * HOUR);
  }
  await one.updateRate({ ...rate, keepAliveTime: 2 * HOUR });
  expect(await client.pttl(key)).toBeGreaterThan(4.5 * HOUR);
  await one.setRate(rate);
  expect(await client.pttl(key)).toBeLessThanOrEqual(HOUR);
  stop.abort();
  await Promise.all(waits);
});

test('an unused rate expires, and a new one starts empty', async () => {
  const one = limiter();
  await one.setRate({ rate: 1, interval: '20ms', keepAliveTime: '20ms' });
  await eventually(async () => (await one.getConfig()) === undefined);
  expect(isRateNotSetError(await rejection(one.availablePermits()))).toBe(true);
  expect(await one.trySetRate({ rate: 3, interval: '1h' })).toBe(true);
  expect(await drain(one)).toBe(3);
});

test('all keys expire', async () => {
  const one = limiter(undefined, stores[0], 'a');
  await one.setRate({ rate: 1, interval: '20ms', keepAliveTime: '2s', mode: 'PER_CLIENT' });
  await one.acquire();
  await one.acquire();
  await eventually(async () => (await keysOf(one)).length === 0);
});

test.each(['hello', 'C'.repeat(41), ''])(
  'a foreign value %p stays as it is, and calls reject',
  async (value) => {
    const one = limiter();
    const key = `${place(one)}:rate`;
    await client.set(key, value, 'PX', HOUR);
    const rate = { rate: 1, interval: '1h' };
    const asks = [
      one.getConfig(),
      one.trySetRate(rate),
      one.setRate(rate),
      one.updateRate(rate),
      one.delete(),
      one.tryAcquire(),
    ];
    for (const error of await Promise.all(asks.map(rejection)))
      expect(isStoreConfigurationError(error)).toBe(true);
    expect(await client.get(key)).toBe(value);
  },
);

test('a key of another type stays as it is, and calls reject', async () => {
  const one = limiter();
  await client.hset(`${place(one)}:rate`, 'rate', 5); // Redisson's own
  for (const ask of [one.getConfig(), one.trySetRate({ rate: 1, interval: '1h' }), one.tryAcquire()]) {
    expect(isStoreConfigurationError(await rejection(ask))).toBe(true);
  }
});

test('a limit of a RateLimiter with the same name is another limit', async () => {
  const one = limiter();
  await one.setRate({ rate: 1, interval: '1h' });
  const plain = new RateLimiter({
    name: one.name,
    store: stores[0],
    policy: slidingLog({ limit: 1, window: '1h' }),
    deadline: '10s',
  });
  expect((await plain.consume(one.name)).allowed).toBe(true);
  expect(await one.tryAcquire()).toBe(true);
  await plain.reset(one.name);
  await plain.close();
});
