import type { Socket } from 'node:net';
import {
  isStoreUnavailableError,
  recommendedRedisOptions,
  redisStore,
} from '../../packages/core/src/index.js';
import { freePort } from '../support/redis/free-port.js';
import { eventually, OwnRedis, rejection } from './own-redis.js';

const redis = new OwnRedis();

test('a server that became a replica closes the connection once, not at each pending reply', async () => {
  const client = redis.client(redis.server.url, recommendedRedisOptions);
  const limiter = redis.limiter(redis.open(redisStore(client)), '5s');
  await eventually(() => limiter.peek('k'));
  const { stream } = client as unknown as { stream: Socket };
  const before = stream.listenerCount('close');
  const admin = redis.client();
  await admin.replicaof('127.0.0.1', await freePort());
  const calls = Array.from({ length: 100 }, () => rejection(limiter.consume('k')));
  // The calls that were pending when the connection closed rejected with it.
  const reasons = (await Promise.all(calls)).map((error) => isStoreUnavailableError(error) && error.reason);
  expect(reasons.filter((reason) => reason === 'READONLY').length).toBeGreaterThan(10);
  expect(reasons.filter((reason) => reason !== 'READONLY' && reason !== 'connection')).toEqual([]);
  expect(stream.listenerCount('close')).toBeLessThan(before + 5); // Node warns of the eleventh
  await admin.replicaof('NO', 'ONE');
  await eventually(() => limiter.consume('k'));
});
