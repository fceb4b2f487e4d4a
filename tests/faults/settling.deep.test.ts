import { fixedWindow, RateLimiter, redisStore } from '../../packages/core/src/index.js';
import type { TcpProxy } from '../support/redis/tcp-proxy.js';
import { uniqueName } from '../support/redis-url.js';
import { eventually, OwnRedis, rejection } from './own-redis.js';

const redis = new OwnRedis();

async function reserved() {
  const proxy = await redis.proxy();
  const limiter = redis.open(
    new RateLimiter({
      name: uniqueName('settling'),
      policy: fixedWindow({ limit: 10, window: '1h' }),
      store: redis.open(redisStore(proxy.url)),
      deadline: '2s',
      failurePolicy: 'deny',
    }),
  );
  const reservation = await eventually(() => limiter.reserve('k', 4));
  return { proxy, limiter, reservation };
}

test('settling sends again after a reconnection if the settlement was never sent', async () => {
  const { proxy, limiter, reservation } = await reserved();
  await cut(proxy);
  expect(await rejection(reservation.settle(1))).toMatchObject({ neverSent: true });
  proxy.pass();
  await eventually(() => reservation.settle(1));
  expect(await limiter.peek('k')).toMatchObject({ remaining: 9 });
});

test('settling sends nothing while Redis is known to be out', async () => {
  const { proxy, limiter, reservation } = await reserved();
  await cut(proxy);
  await Promise.all(Array.from({ length: 5 }, () => limiter.consume('k')));
  expect(await rejection(reservation.cancel())).toMatchObject({ neverSent: true });
  proxy.pass();
  await eventually(() => reservation.cancel());
  expect(await eventually(async () => fromRedis(await limiter.peek('k')))).toMatchObject({ remaining: 10 });
});

test('settling rejects with an unknown outcome after a lost reply', async () => {
  const { proxy, limiter, reservation } = await reserved();
  proxy.resetNextReply();
  expect(await rejection(reservation.settle(1))).toMatchObject({ neverSent: false });
  await expect(reservation.settle(1)).rejects.toThrow('the outcome of that call is unknown');
  expect(await eventually(async () => fromRedis(await limiter.peek('k')))).toMatchObject({ remaining: 9 });
});

test('settling rejects with an unknown outcome after a timeout', async () => {
  const { proxy, reservation } = await reserved();
  proxy.blackhole();
  expect(await rejection(reservation.settle(1))).toMatchObject({ neverSent: false, late: true });
});

/** Waits for the next connection, which gets no replies: only then has the client noticed that it lost the old one. */
async function cut(proxy: TcpProxy): Promise<void> {
  const before = proxy.connections;
  proxy.blackhole();
  proxy.disconnectAll();
  await eventually(async () => expect(proxy.connections).toBeGreaterThan(before));
}

function fromRedis<D extends { readonly source: string }>(decision: D): D {
  if (decision.source !== 'redis') throw new Error(`decided by ${decision.source}`);
  return decision;
}
