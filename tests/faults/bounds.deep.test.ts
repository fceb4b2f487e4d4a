import { type FailurePolicy, fixedWindow, RateLimiter, redisStore } from '../../packages/core/src/index.js';
import { uniqueName } from '../support/redis-url.js';
import { fromRedis } from './callers.js';
import { OwnRedis } from './own-redis.js';
import { record } from './table.js';

const redis = new OwnRedis();
const PROCESSES = 3;
const LIMIT = 6;

/** Permits admitted before, during and after an outage. Three stores stand for three processes. */
async function admittedIn(
  failurePolicy: FailurePolicy,
): Promise<{ before: number; out: number; after: number }> {
  const name = uniqueName('bounds');
  const policy = fixedWindow({ limit: LIMIT, window: '1h' });
  const limiters = Array.from({ length: PROCESSES }, () => {
    const store = redis.open(redisStore(redis.server.url));
    return new RateLimiter({ name, policy, store, failurePolicy, deadline: '2s', denyCache: false });
  });
  const admitted = async (degraded: boolean) => {
    let count = 0;
    const calls = limiters.flatMap((limiter) =>
      Array.from({ length: 2 * LIMIT }, () => limiter.consume('k')),
    );
    for (const decision of await Promise.all(calls)) {
      expect(decision.degraded).toBe(degraded);
      if (decision.allowed) count += 1;
    }
    return count;
  };
  for (const limiter of limiters) await fromRedis(() => limiter.peek('k'));
  const before = await admitted(false);
  await redis.server.freeze();
  const out = await admitted(true);
  await redis.server.thaw();
  for (const limiter of limiters) await fromRedis(() => limiter.consume('k'));
  return { before, out, after: await admitted(false) };
}

test.each<[string, FailurePolicy, number]>([
  ['`local`', 'local', PROCESSES * LIMIT],
  [`\`local\` with a share of 1 / ${PROCESSES}`, { local: { share: 1 / PROCESSES } }, LIMIT],
  ['`deny`', 'deny', 0],
])(
  'with %s three processes admit no more than its bound while Redis is out',
  async (what, failurePolicy, bound) => {
    expect(await admittedIn(failurePolicy)).toEqual({ before: LIMIT, out: bound, after: 0 });
    record({
      group: 'bounds',
      fault: `frozen; ${PROCESSES} processes, ${what}`,
      seen: 'the failure policy',
      counted: `${LIMIT} + ${bound} + 0 admitted of a limit of ${LIMIT}: before, meanwhile, after`,
    });
  },
);
