import { Redis } from 'ioredis';
import {
  concurrency,
  fixedWindow,
  isStoreUnavailableError,
  RateLimiter,
  type RedisStore,
  redisStore,
  StoreConfigurationError,
} from '../../../packages/core/src/index.js';
import { OwnRedis } from '../../faults/own-redis.js';
import { eventually } from '../../support/eventually.js';
import { Messages } from '../../support/messages.js';
import { startRedis } from '../../support/redis/redis-server.js';
import { redisUrl, uniqueName } from '../../support/redis-url.js';
import { rejection } from '../../support/rejection.js';

const hourly = (limit: number) => fixedWindow({ limit, window: '1h' });
const deadline = '10s';
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function connected(url = redisUrl()): Promise<RedisStore> {
  const store = redisStore(url);
  closers.push(() => store.close());
  await store.connect();
  return store;
}

function listen(...args: ConstructorParameters<typeof Messages>): Messages {
  const messages = new Messages(...args);
  closers.push(() => messages.stop());
  return messages;
}

test('calls of one turn publish one script call, then their decisions in order', async () => {
  const store = await connected();
  const limiter = new RateLimiter({ name: uniqueName('published'), policy: hourly(2), store, deadline });
  const messages = listen();
  const before = performance.now();
  const decisions = await Promise.all([1, 2, 3].map(() => limiter.consume('ann')));
  const after = performance.now();
  expect(messages.log).toEqual(['store-call', 'decision allowed', 'decision allowed', 'decision denied']);
  const [call] = messages.on('sluice:store-call');
  const [startedAt, endedAt] = [expect.any(Number), expect.any(Number)];
  const address = `redis://${new URL(redisUrl()).host}`;
  expect(call).toEqual({
    store: 'redis',
    address,
    node: undefined,
    calls: 3,
    startedAt,
    endedAt,
    error: undefined,
  });
  expect(call!.startedAt).toBeGreaterThanOrEqual(before);
  expect(call!.endedAt).toBeGreaterThan(call!.startedAt);
  expect(call!.endedAt).toBeLessThanOrEqual(after);
  expect(messages.on('sluice:decision').map(({ decision }) => decision)).toEqual(decisions);
  for (const message of messages.on('sluice:decision')) {
    expect(message).toMatchObject({ limiter: limiter.name, key: 'ann', result: expect.any(String) });
    expect(message.startedAt).toBeGreaterThanOrEqual(before);
    expect(message.endedAt).toBeLessThanOrEqual(after);
  }
});

test('a wait for a held permit publishes its messages in order', async () => {
  const store = await connected();
  const policy = concurrency({ limit: 1, lease: '30s' });
  const limiter = new RateLimiter({ name: uniqueName('published'), policy, store, deadline });
  const messages = listen(limiter.name, { traced: true });
  const held = await limiter.acquire('k');
  const waiting = limiter.acquire('k');
  await eventually(async () => messages.log.includes('wait waiting'));
  await limiter.release(held);
  await limiter.release(await waiting);
  const published = messages.log.filter((one) => !one.startsWith('refund'));
  expect(published).toEqual([
    ...['start', 'end', 'lease held', 'decision allowed', 'asyncStart', 'asyncEnd'],
    ...['start', 'end', 'wait waiting', 'lease released', 'lease held'],
    ...['wait allowed', 'decision allowed', 'asyncStart', 'asyncEnd', 'lease released'],
  ]);
  const leases = messages.on('sluice:lease');
  expect(leases[1]).toBe(leases[0]);
  expect(leases[3]).toBe(leases[2]);
  expect(messages.log.filter((one) => one === 'refund release')).toHaveLength(2);
});

test('a script call that loads the script publishes one message', async () => {
  const own = await startRedis(); // other tests need the scripts of the shared server
  closers.push(() => own.stop());
  const store = await connected(own.url);
  const limiter = new RateLimiter({ name: uniqueName('published'), policy: hourly(5), store, deadline });
  await limiter.consume('k');
  const client = new Redis(own.url);
  closers.push(() => client.disconnect());
  await client.script('FLUSH');
  const messages = listen(undefined, { channels: ['sluice:store-call'] });
  await limiter.consume('k');
  expect(messages.on('sluice:store-call').map(({ calls, error }) => [calls, error])).toEqual([
    [1, undefined],
  ]);
});

test('every message encodes a hostile key', async () => {
  const store = await connected();
  const policy = concurrency({ limit: 1, lease: '30s' });
  const limiter = new RateLimiter({ name: uniqueName('published'), policy, store, deadline });
  const messages = listen(limiter.name);
  for (const key of ['a\r\n\u001b[2Jb', 'x'.repeat(2 ** 20)])
    await limiter.release(await limiter.consume(key));
  const keys = (['sluice:decision', 'sluice:lease', 'sluice:refund'] as const).flatMap((name) =>
    messages.on(name).map(({ key }) => key),
  );
  expect(keys).toHaveLength(8);
  for (const key of keys) expect(key).toMatch(/^[A-Za-z0-9._~@+=,/:%-]{1,128}$/);
});

test('a refused script call publishes its error, and a foreign value publishes no failed script call', async () => {
  const store = await connected();
  const name = uniqueName('published');
  const limiter = new RateLimiter({ name, policy: hourly(5), store, deadline });
  const client = new Redis(redisUrl());
  closers.push(() => client.disconnect());
  await client.lpush(`sluice:v2:fw:${name}:{k}`, 'not ours');
  const messages = listen(name);
  const error = await rejection(limiter.consume('k'));
  expect(error).toBeInstanceOf(StoreConfigurationError);
  expect(messages.on('sluice:decision')).toEqual([expect.objectContaining({ result: 'error', error })]);
});

describe('an outage', () => {
  const own = new OwnRedis();

  test('publishes the objects of store.on, failed script calls and the recovery', async () => {
    const store = await connected(own.server.url);
    const limiter = own.limiter(store);
    const events: [string, unknown][] = [];
    for (const event of ['storeError', 'degraded', 'recovered'] as const)
      store.on(event, (details) => events.push([event, details]));
    const messages = listen();
    await own.limiter(store, '10s').consume('k');
    await own.server.kill();
    await eventually(async () => {
      await limiter.consume('k').catch(() => {});
      return events.some(([event]) => event === 'degraded');
    });
    const failures = messages.on('sluice:decision').flatMap(({ error }) => error ?? []);
    expect(failures.length).toBeGreaterThan(0);
    expect(failures.every(isStoreUnavailableError)).toBe(true);
    await own.server.restart();
    await eventually(async () => {
      await limiter.consume('k').catch(() => {});
      return events.some(([event]) => event === 'recovered');
    });
    const published = [
      ...messages.on('sluice:store-error').map((one) => ['storeError', one]),
      ...messages.on('sluice:degraded').map((one) => ['degraded', one]),
      ...messages.on('sluice:recovered').map((one) => ['recovered', one]),
    ];
    expect(published).toHaveLength(events.length);
    for (const [event, details] of events)
      expect(published.filter(([name, one]) => name === event && one === details)).toHaveLength(1);
    const calls = messages.on('sluice:store-call').filter(({ error }) => error !== undefined);
    expect(calls.length).toBeGreaterThan(0);
    for (const { error } of calls) expect(isStoreUnavailableError(error)).toBe(true);
  });
});
