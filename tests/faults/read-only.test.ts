import { redisStore } from '../../packages/core/src/index.js';
import { freePort } from '../support/redis/free-port.js';
import { eventually, OwnRedis, rejection } from './own-redis.js';

const redis = new OwnRedis();

test('a server that has become a replica ends a connection once, not with each of the answers that were under way', async () => {
  const warnings: Error[] = [];
  const note = (warning: Error) => warnings.push(warning);
  process.on('warning', note);
  const limiter = redis.limiter(redis.open(redisStore(redis.server.url)), '5s');
  await eventually(() => limiter.peek('k'));
  const admin = redis.client();
  await admin.replicaof('127.0.0.1', await freePort());
  const calls = Array.from({ length: 100 }, () => rejection(limiter.consume('k')));
  for (const error of await Promise.all(calls)) expect(error).toMatchObject({ reason: 'READONLY' });
  await admin.replicaof('NO', 'ONE');
  await eventually(() => limiter.consume('k'));
  await new Promise((resolve) => setImmediate(resolve)); // warnings are printed later
  process.off('warning', note);
  expect(warnings).toEqual([]);
});
