import type { Redis, RedisOptions } from 'ioredis';
import {
  concurrency,
  type Decision,
  type FailurePolicy,
  fixedWindow,
  isStoreUnavailableError,
  type Policy,
  RateLimiter,
  type RedisClient,
  redisStore,
  type Store,
} from '../../packages/core/src/index.js';
import { storeOnDefaults } from '../support/expecting-warning.js';
import { uniqueName } from '../support/redis-url.js';
import { rethrow } from '../support/rethrow.js';
import { eventually, OwnRedis, rejection } from './own-redis.js';

const redis = new OwnRedis();

function limiterOn(store: Store, policy: Policy, name = uniqueName('waiting'), deadline = '5s') {
  return redis.open(
    new RateLimiter({ name, policy, store: redis.open(store), deadline, failurePolicy: rethrow }),
  );
}
const slot = concurrency({ limit: 1, lease: '3s' });
/** The number of channels that all connections subscribe to. */
const listening = async (admin: Redis) =>
  [...String(await admin.client('LIST')).matchAll(/ sub=(\d+)/g)].reduce((sum, [, n]) => sum + Number(n), 0);

test('a call with a booked moment resolves without the server', async () => {
  const limiter = limiterOn(redisStore(redis.server.url), fixedWindow({ limit: 1, window: '1s' }));
  await limiter.acquire('k');
  const waiting = limiter.acquire('k');
  await limiter.peek('k');
  await redis.server.kill();
  expect(await waiting).toMatchObject({ allowed: true });
});

test('an abort while the server is away rejects with its reason', async () => {
  const policy = fixedWindow({ limit: 1, window: '1h' });
  const limiter = limiterOn(redisStore(redis.server.url), policy);
  await eventually(() => limiter.consume('k'));
  const stop = new AbortController();
  const waiting = rejection(limiter.acquire('k', { signal: stop.signal }));
  await limiter.peek('k');
  await redis.server.kill();
  stop.abort(new Error('enough'));
  expect(await waiting).toMatchObject({ message: 'enough' });
});

test('a lost subscriber connection reconnects, and waiting calls poll for lost messages', async () => {
  const admin = redis.client();
  const limiter = limiterOn(redisStore(redis.server.url), slot);
  const held = await limiter.acquire('k');
  const waiting = limiter.acquire('k', { timeout: '20s' });
  await eventually(async () => expect(await listening(admin)).toBe(1));
  await admin.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
  await limiter.release(held);
  expect(await waiting).toMatchObject({ allowed: true });
});

/** A store whose subscriber connection goes through `proxy`. */
function listeningThrough(proxy: { url: string }): Store {
  const client = redis.client();
  client.duplicate = ((options: RedisOptions) => redis.client(proxy.url, options)) as Redis['duplicate'];
  return storeOnDefaults(client as unknown as RedisClient);
}

test('without a subscriber connection a waiting call polls', async () => {
  const proxy = await redis.proxy();
  proxy.blackhole();
  const limiter = limiterOn(listeningThrough(proxy), slot, undefined, '1s');
  const held = await eventually(() => limiter.acquire('k'));
  const waiting = limiter.acquire('k', { timeout: '1h' }).catch((error: unknown) => error);
  const next = limiter.acquire('k', { timeout: '1h' });
  await new Promise((resolve) => setTimeout(resolve, 1_500)); // longer than the deadline
  await limiter.release(held);
  const second = await waiting;
  expect(second).toMatchObject({ allowed: true });
  proxy.pass();
  await limiter.release(second as Decision);
  expect(await next).toMatchObject({ allowed: true });
});

test.each<[FailurePolicy, object]>([
  ['local', { value: { allowed: true, degraded: true, source: 'local' } }],
  ['allow', { value: { allowed: true, degraded: true, source: 'allow' } }],
  ['deny', { reason: { code: 'SLUICE_STORE_UNAVAILABLE', decision: { allowed: false } } }],
  [rethrow, { reason: { code: 'SLUICE_STORE_UNAVAILABLE' } }],
])(
  'when the server dies, the failure policy decides queued calls at once, not hours later (%p)',
  async (failurePolicy, expected) => {
    const admin = redis.client();
    const store = redis.open(redisStore(redis.server.url));
    const policy = concurrency({ limit: 1, lease: '1h' });
    const limiter = redis.open(
      new RateLimiter({ name: uniqueName('dying'), policy, store, deadline: '2s', failurePolicy }),
    );
    await eventually(() => limiter.acquire('k'));
    const waiting = Promise.allSettled([limiter.acquire('k', { timeout: '10h' })]);
    await eventually(async () => expect(await listening(admin)).toBe(1));
    await redis.server.kill();
    expect(await waiting).toMatchObject([expected]);
  },
);

test('when the server freezes, the failure policy decides queued calls as soon as the circuit opens', async () => {
  const admin = redis.client();
  const store = redis.open(redisStore(redis.server.url));
  const place = { store, deadline: '2s', failurePolicy: 'allow' } as const;
  const limiter = redis.open(
    new RateLimiter({
      name: uniqueName('freezing'),
      policy: concurrency({ limit: 1, lease: '1h' }),
      ...place,
    }),
  );
  const other = redis.open(
    new RateLimiter({
      name: uniqueName('freezing'),
      policy: fixedWindow({ limit: 1, window: '1h' }),
      ...place,
    }),
  );
  await eventually(async () => expect(await limiter.acquire('k')).toMatchObject({ source: 'redis' }));
  const waiting = limiter.acquire('k', { timeout: '10h' });
  await eventually(async () => expect(await listening(admin)).toBe(1));
  await redis.server.freeze();
  try {
    await Promise.all(Array.from({ length: 5 }, () => other.consume('k')));
    expect(await waiting).toMatchObject({ allowed: true, source: 'allow' });
  } finally {
    await redis.server.thaw();
  }
});

test('all waiting calls share one subscriber connection, which closes after the last of them', async () => {
  const admin = redis.client();
  const limiter = limiterOn(redisStore(redis.server.url), slot);
  for (let round = 0; round < 2; round += 1) {
    const held = await Promise.all(['a', 'b', 'c'].map((key) => limiter.acquire(key)));
    const waits = ['a', 'b', 'c', 'a'].map((key) => limiter.acquire(key, { timeout: '20s' }));
    await eventually(async () => expect(await listening(admin)).toBe(3));
    for (const decision of held) await limiter.release(decision);
    for (const waiting of waits) await limiter.release(await waiting);
  }
  await eventually(async () => expect(await listening(admin)).toBe(0));
});

test('a queued call rejects when the server dies, and holds no permit afterwards', async () => {
  const admin = redis.client();
  const limiter = limiterOn(redisStore(redis.server.url), slot);
  await eventually(() => limiter.acquire('k'));
  const waiting = rejection(limiter.acquire('k'));
  await eventually(async () => expect(await listening(admin)).toBe(1));
  await redis.server.kill();
  expect(isStoreUnavailableError(await waiting)).toBe(true);
  await redis.server.restart();
  expect(await eventually(() => limiter.peek('k'))).toMatchObject({ remaining: 1 });
});

test('permits of an acquire whose reply was lost return when its lease ends', async () => {
  const proxy = await redis.proxy();
  const limiter = limiterOn(redisStore(proxy.url), concurrency({ limit: 1, lease: '300ms' }));
  await eventually(() => limiter.peek('warm-up'));
  proxy.resetNextReply();
  expect(isStoreUnavailableError(await rejection(limiter.acquire('k')))).toBe(true);
  expect(await eventually(() => limiter.acquire('k', { timeout: '20s' }))).toMatchObject({ allowed: true });
});

test('SCRIPT FLUSH while calls wait has no effect on callers', async () => {
  const admin = redis.client();
  const limiter = limiterOn(redisStore(redis.server.url), slot);
  const held = await limiter.acquire('k');
  const waiting = limiter.acquire('k', { timeout: '20s' });
  await eventually(async () => expect(await listening(admin)).toBe(1));
  await admin.script('FLUSH');
  await limiter.release(held);
  expect(await waiting).toMatchObject({ allowed: true });
});
