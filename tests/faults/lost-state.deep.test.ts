import { setTimeout as sleep } from 'node:timers/promises';
import { fixedWindow, RateLimiter, type RedisStore } from '../../packages/core/src/index.js';
import { storeOnDefaults } from '../support/expecting-warning.js';
import { startReplica } from '../support/redis/redis-replica.js';
import { uniqueName } from '../support/redis-url.js';
import { fromRedis } from './callers.js';
import { eventually, OwnRedis } from './own-redis.js';
import { record } from './table.js';

/** A server that answers, but has lost the script or its counts. */
const redis = new OwnRedis();
const group = 'lost state';
const USERS = Array.from({ length: 50 }, (_, i) => `user-${i}`);

/** A limiter that denies without Redis, so Redis has counted every admission. */
function limiterOn(store: RedisStore, limit: number, name = uniqueName('lost-state')): RateLimiter {
  const policy = fixedWindow({ limit, window: '1h' });
  return new RateLimiter({ name, policy, store, failurePolicy: 'deny', denyCache: false, deadline: '5s' });
}
/** A store on a client that does not give up its connection on a busy machine. */
const store = (url = redis.server.url) => redis.open(storeOnDefaults(redis.client(url)));

/** Calls until Redis denies. @returns the number of admitted calls */
async function admitted(limiter: RateLimiter, key: string, most = Number.POSITIVE_INFINITY): Promise<number> {
  for (let count = 0; ; count += 1) {
    if (count === most || !(await fromRedis(() => limiter.consume(key))).allowed) return count;
  }
}

test('a restart without data admits at most one limit more', async () => {
  const limiter = limiterOn(store(), 50);
  const before = await admitted(limiter, 'k');
  await redis.server.restart();
  const after = await admitted(limiter, 'k');
  expect([before, after]).toEqual([50, 50]);
  record({
    ...{ group, fault: 'restarted, and empty', seen: 'nothing, or the failure policy while it was away' },
    counted: `${before} + ${after} admitted of a limit of 50`,
  });
});

/** Runs four callers until `lasts` has settled. @returns the number of calls */
async function callsDuring(lasts: Promise<unknown>, call: () => Promise<unknown>): Promise<number> {
  let [going, calls] = [true, 0];
  const caller = async () => {
    for (; going; calls += 1) await call();
  };
  await Promise.all([lasts.finally(() => (going = false)), ...Array.from({ length: 4 }, caller)]);
  return calls;
}

test('SCRIPT FLUSH every 100 ms has no effect on callers', async () => {
  const admin = redis.client();
  const limiter = limiterOn(store(), 1_000_000);
  const unknown = async () =>
    Number(/errorstat_NOSCRIPT:count=(\d+)/.exec(await admin.info('errorstats'))?.[1] ?? 0);
  const flushes = async () => {
    for (let i = 0; i < 15 || (await unknown()) <= 10; i += 1) {
      await sleep(100);
      await admin.script('FLUSH');
    }
  };
  const calls = await callsDuring(flushes(), async () => {
    expect(await limiter.consume('k')).toMatchObject({ allowed: true, source: 'redis' });
  });
  const { remaining } = await limiter.peek('k');
  expect(1_000_000 - remaining).toBe(calls);
  record({
    group,
    fault: '`SCRIPT FLUSH` each 100 ms, under load',
    seen: 'nothing',
    counted: 'each call once',
  });
});

// Redis 7.4 keeps 500 scripts sent with EVAL; older versions keep all.
test('enough foreign scripts to evict ours have no effect on callers', async () => {
  const admin = redis.client();
  const limiter = limiterOn(store(), 1_000);
  const others = async () => {
    for (let i = 0; i < 1_200; i += 1) await admin.eval(`return ${i}`, 0);
  };
  const calls = await callsDuring(others(), async () => {
    await sleep(20);
    expect(await limiter.consume('k')).toMatchObject({ allowed: true, source: 'redis' });
  });
  expect(1_000 - (await limiter.peek('k')).remaining).toBe(calls);
  record({ group, fault: '1,200 scripts of others', seen: 'nothing', counted: 'each call once' });
});

describe.each(['allkeys-lru', 'volatile-lru', 'volatile-ttl', 'noeviction'])(
  'a full memory with %s',
  (policy) => {
    const LIMIT = 4;

    test('admits a limited key again once for each eviction', async () => {
      const admin = redis.client();
      const limiter = limiterOn(store(), LIMIT);
      for (const user of USERS) expect(await admitted(limiter, user)).toBe(LIMIT);
      const used = Number(/used_memory:(\d+)/.exec(await admin.info('memory'))![1]);
      await admin.config('SET', 'maxmemory-policy', policy);
      await admin.config('SET', 'maxmemory', used + 1_000_000);
      const flood = async () => {
        const some = `for i = 1, 50 do redis.call('SET', ARGV[1] .. i, string.rep('x', 1000), 'PX', 7200000) end`;
        for (let i = 0; i < 40; i += 1) await admin.eval(some, 0, `filler:${i}:`);
      };
      if (policy === 'noeviction') await expect(flood()).rejects.toThrow('OOM');
      else await flood();
      await admin.config('SET', 'maxmemory', 0);

      let readmitted = 0;
      for (const user of USERS) {
        const again = await admitted(limiter, user);
        expect([0, LIMIT]).toContain(again);
        if (again > 0) readmitted += 1;
      }
      if (policy === 'noeviction') expect(readmitted).toBe(0);
      if (policy === 'allkeys-lru') expect(readmitted).toBeGreaterThan(0);
      record({
        ...{ group, fault: `memory full, \`${policy}\`` },
        seen: policy === 'noeviction' ? '`OOM`, and the failure policy' : 'nothing',
        counted: `${readmitted} of ${USERS.length} users at their limit had it again`,
      });
    });
  },
);

test('a promoted replica that lagged admits the calls again that it had not received', async () => {
  const link = await redis.proxy();
  const replica = await startReplica(link.port);
  redis.open({ close: () => replica.stop() });
  const admin = redis.client(replica.url);
  const limiter = limiterOn(store(), 100);
  const heard = await admitted(limiter, 'k', 60);
  const offset = async (info: Promise<string>) =>
    Number(/(?:master|slave)_repl_offset:(\d+)/.exec(await info)?.[1]);
  const sent = await offset(redis.client().info('replication'));
  await eventually(async () => expect(await offset(admin.info('replication'))).toBeGreaterThanOrEqual(sent));
  link.blackhole();
  const unheard = await admitted(limiter, 'k');
  await redis.server.kill();
  await admin.replicaof('NO', 'ONE');
  const readmitted = await admitted(limiterOn(store(replica.url), 100, limiter.name), 'k');
  expect([heard, unheard, readmitted]).toEqual([60, 40, 40]);
  record({
    ...{ group, fault: 'a replica that lags by 40 calls is promoted', seen: 'the failure policy meanwhile' },
    counted: `${heard + unheard} + ${readmitted} admitted of a limit of 100`,
  });
});
