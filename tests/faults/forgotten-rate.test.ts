import {
  isRateNotSetError,
  RateLimiter,
  redisStore,
  SharedLimiter,
  tokenBucket,
} from '../../packages/core/src/index.js';
import { eventually, OwnRedis, rejection } from './own-redis.js';

const redis = new OwnRedis();

test('after an outage that lost a shared rate, only calls for that rate reject', async () => {
  const store = redis.open(redisStore(redis.server.url));
  const shared = redis.open(new SharedLimiter({ name: 'shared', store, deadline: '10s' }));
  const policy = tokenBucket({ capacity: 10, refill: 10, every: '1h' });
  const limiter = redis.open(new RateLimiter({ name: 'other', policy, store, deadline: '10s' }));
  await eventually(() => shared.setRate({ rate: 5, interval: '1h' }));
  const out = new Promise((resolve) => store.on('degraded', resolve));
  await redis.server.kill();
  // Only shared limits have noticed the outage, so the health probes are for them.
  const asking = setInterval(() => void shared.tryAcquire().catch(() => undefined), 5);
  await out;
  clearInterval(asking);

  await redis.server.restart();
  await eventually(async () => expect(await limiter.consume('k')).toMatchObject({ source: 'redis' }));
  expect(isRateNotSetError(await rejection(shared.tryAcquire()))).toBe(true);
  await shared.setRate({ rate: 5, interval: '1h' });
  expect(await shared.tryAcquire()).toBe(true);
});
