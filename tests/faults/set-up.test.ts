import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis as Redis5 } from 'ioredis-5';
import {
  type ConfigurationReason,
  type FailurePolicy,
  fixedWindow,
  isStoreConfigurationError,
  RateLimiter,
  type RedisClient,
  type RedisStore,
  redisStore,
  type StoreErrorEvent,
} from '../../packages/core/src/index.js';
import { storeOnDefaults } from '../support/expecting-warning.js';
import { uniqueName } from '../support/redis-url.js';
import { fromRedis } from './callers.js';
import { eventually, LIMIT, OwnRedis, rejection } from './own-redis.js';
import { record } from './table.js';

/** Mistakes to which no failure policy applies: an operator must fix them. */
const redis = new OwnRedis();
const POLICIES: FailurePolicy[] = ['local', 'allow', 'deny', () => 'allow'];

interface Mistake {
  readonly reason: ConfigurationReason;
  readonly how: string;
  readonly store: RedisStore;
  readonly begin?: (limiters: readonly RateLimiter[]) => unknown;
  readonly end: (limiters: readonly RateLimiter[]) => unknown;
}

/** Every call rejects, whatever its failure policy; one event is emitted; once it is fixed, Redis decides. */
async function isTold({ reason, how, store, begin, end }: Mistake): Promise<void> {
  const errors: StoreErrorEvent[] = [];
  let degraded = 0;
  store
    .on('storeError', (event) => errors.push(event))
    .on('degraded', () => {
      degraded += 1;
    });
  const limiters = POLICIES.map(
    (failurePolicy) =>
      new RateLimiter({
        name: uniqueName('set-up'),
        policy: fixedWindow({ limit: LIMIT, window: '1h' }),
        store,
        failurePolicy,
        deadline: '1s',
      }),
  );
  await begin?.(limiters);
  let longest = 0;
  for (let round = 0; round < 10; round += 1) {
    for (const limiter of limiters) {
      const start = performance.now();
      const error = await rejection(limiter.consume('k'));
      longest = Math.max(longest, performance.now() - start);
      expect(isStoreConfigurationError(error) ? error.reason : error).toBe(reason);
    }
    await sleep(0); // events are emitted between the calls
  }
  expect(errors.map((event) => event.reason)).toEqual([reason]);
  expect(degraded).toBe(0);

  await end(limiters);
  const ended = performance.now();
  let counted = 0;
  for (const limiter of limiters) {
    const { remaining } = await fromRedis(() => limiter.peek('k'));
    counted += LIMIT - remaining;
  }
  expect(counted).toBe(0);
  record({
    group: 'set-up',
    fault: `\`${reason}\`: ${how}`,
    seen: '`StoreConfigurationError`, under every policy',
    first: longest,
    counted: 'nothing',
    recovered: performance.now() - ended,
  });
}

test('a store that comes back with another password does not count as out any more', async () => {
  const proxy = await redis.proxy();
  const admin = redis.client();
  const store = redis.open(redisStore(proxy.url));
  const limiter = new RateLimiter({
    name: uniqueName('set-up'),
    policy: fixedWindow({ limit: LIMIT, window: '1h' }),
    store,
    failurePolicy: 'allow',
  });
  const degraded = new Promise((resolve) => store.on('degraded', resolve));
  await fromRedis(() => limiter.consume('k'));
  proxy.blackhole();
  await Promise.all([degraded, ...Array.from({ length: 5 }, () => limiter.consume('k'))]);

  await admin.config('SET', 'requirepass', 'another');
  proxy.disconnectAll();
  proxy.pass();
  const told = await eventually(async () => {
    const error = await rejection(limiter.consume('k'));
    if (error === undefined) throw new Error('allowed');
    return error;
  });
  expect(isStoreConfigurationError(told) ? told.reason : told).toBe('NOAUTH');
  for (let call = 0; call < 10; call += 1)
    expect(await rejection(limiter.consume('k'))).toMatchObject(told as Error);
});

test('WRONGTYPE: something else has our key', async () => {
  const admin = redis.client();
  const keys = (limiters: readonly RateLimiter[]) => limiters.map(({ name }) => `sluice:v2:fw:${name}:{k}`);
  await isTold({
    ...{ reason: 'WRONGTYPE', how: 'something else has our key' },
    store: redis.open(redisStore(redis.server.url)),
    begin: (limiters) => Promise.all(keys(limiters).map((key) => admin.lpush(key, 'theirs'))),
    end: (limiters) => admin.del(...keys(limiters)),
  });
});

test('NOPERM: the user may not touch our keys', async () => {
  const admin = redis.client();
  await admin.call('ACL', 'SETUSER', 'guest', 'on', '>secret', '~other:*', '+@all');
  await isTold({
    ...{ reason: 'NOPERM', how: 'the user may not touch our keys' },
    store: redis.open(redisStore(`redis://guest:secret@127.0.0.1:${redis.server.port}`)),
    end: () => admin.call('ACL', 'SETUSER', 'guest', '~sluice:*'),
  });
});

/** Each client gets a wrong password in its own way. */
const CLIENTS = [
  ['our own client', (url: string) => url],
  ['ioredis 6', (url: string) => redis.client(url)],
  [
    'ioredis 5',
    (url: string) => {
      const client = new Redis5(url, { disconnectTimeout: 0 } as object);
      client.on('error', () => undefined);
      redis.open({ close: () => client.disconnect() });
      return client as unknown as RedisClient;
    },
  ],
] as const;

describe.each(CLIENTS)('%s', (who, clientAt) => {
  test('WRONGPASS: the password is another', async () => {
    const admin = redis.client();
    await admin.config('SET', 'requirepass', 'right');
    await isTold({
      ...{ reason: 'WRONGPASS', how: `the password is another (${who})` },
      store: redis.open(storeOnDefaults(clientAt(redis.server.url.replace('redis://', 'redis://:wrong@')))),
      end: () => admin.config('SET', 'requirepass', 'wrong'),
    });
  });

  test('NOAUTH: it needs a password, and gets none', async () => {
    const admin = redis.client();
    await admin.config('SET', 'requirepass', 'right');
    await isTold({
      ...{ reason: 'NOAUTH', how: `it wants a password, and is given none (${who})` },
      store: redis.open(storeOnDefaults(clientAt(redis.server.url))),
      end: () => admin.config('SET', 'requirepass', ''),
    });
  });
});
